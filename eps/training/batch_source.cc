// Batches to train on.
#include "eps/training/batch_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "eps/diffusion/bridge.h"
#include "eps/diffusion/schedule.h"

namespace eps::training {

// A `Drawn` holds the images of a batch, sorted by task.
struct BatchSource::Drawn {
  std::vector<uint64_t> positions;
  std::vector<int64_t> counts;  // images of each task
  Tensor x0;                    // float32
  Tensor labels;
  Rng rng;
};

BatchSource::BatchSource(const ImageSet& data, const BatchOptions& options, at::Device device)
    : data_(data),
      options_(options),
      device_(device),
      shuffle_(data.size(), derive_seed(options.seed, Stream::training_order)) {
  check(options.tasks.empty() == !options.input.conditional(),
        "training: the input ",
        to_string(options.input),
        options.tasks.empty() ? " needs a task" : " takes no task");
  for (const auto& task : options.tasks) draws_.push_back(parse_operator(task));
}

BatchSource::Drawn BatchSource::draw_images(int64_t first, int64_t count) const {
  const std::vector<int64_t> places = shuffle_.at(first, count);
  std::vector<uint64_t> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), static_cast<uint64_t>(first));
  std::vector<uint64_t> runs = positions;
  for (uint64_t& run : runs) run /= static_cast<uint64_t>(options_.task_run);
  const size_t tasks = std::max<size_t>(draws_.size(), 1);
  const Tensor pick =
      (Rng(derive_seed(options_.seed, Stream::training_task), runs).uniform({count}) *
       static_cast<double>(tasks))
          .floor();
  const double* task = pick.data_ptr<double>();
  std::vector<size_t> order(positions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [&](size_t a, size_t b) { return task[a] < task[b]; });
  Drawn drawn{.positions = {},
              .counts = std::vector<int64_t>(tasks),
              .x0 = {},
              .labels = {},
              .rng = Rng(0)};
  std::vector<int64_t> sorted;
  for (const size_t i : order) {
    drawn.positions.push_back(positions[i]);
    sorted.push_back(places[i]);
    ++drawn.counts[static_cast<size_t>(task[i])];
  }
  drawn.rng = Rng::on_device(device_,
                             derive_seed(options_.seed,
                                         Stream::training_noise,
                                         device_.is_cpu() ? 0 : static_cast<uint64_t>(first)),
                             drawn.positions);
  Rng cuts(derive_seed(options_.seed, Stream::training_crop), drawn.positions);
  const LabelledImages chosen = data_.draw(sorted, cuts, device_);
  drawn.x0 = chosen.images;
  drawn.labels = chosen.labels;
  const Tensor mirrored = drawn.rng.uniform({count, 1, 1, 1}).to(device_) < 0.5;
  if (options_.flip) drawn.x0 = at::where(mirrored, drawn.x0.flip({3}), drawn.x0);
  return drawn;
}

Operator BatchSource::draw_operator(
    const Drawn& drawn, size_t task, int64_t begin, int64_t end, int64_t first) const {
  const uint64_t index = device_.is_cpu() ? 0 : static_cast<uint64_t>(first) * draws_.size() + task;
  Rng rng = Rng::on_device(device_,
                           derive_seed(options_.seed, Stream::training_operator, index),
                           {drawn.positions.begin() + begin, drawn.positions.begin() + end});
  return draws_[task](drawn.x0.slice(0, begin, end), rng);
}

std::vector<ProblemGroup> BatchSource::make_problems(Drawn& drawn, int64_t first) const {
  if (!options_.input.conditional()) {
    Problem nothing;
    nothing.labels = drawn.labels;
    return {{nothing, drawn.x0}};
  }
  const Range& range = options_.sigma_y;
  const Tensor sigma_y =
      range.low == range.high ? scalar(range.low)
      : options_.log_sigma_y
          ? draw_in({std::log(range.low), std::log(range.high)}, drawn.x0, drawn.rng)
                .exp()
                .to(drawn.x0.options())
          : draw_in(range, drawn.x0, drawn.rng).to(drawn.x0.options());
  std::vector<ProblemGroup> groups;
  int64_t begin = 0;
  for (size_t task = 0; task < draws_.size(); ++task) {
    const int64_t end = begin + drawn.counts[task];
    if (begin == end) continue;
    const Tensor x0 = drawn.x0.slice(0, begin, end);
    Rng rng = drawn.rng.slice(begin, end);
    Problem problem = observe(
        draw_operator(drawn, task, begin, end, first), x0, slice_sample(sigma_y, begin, end), rng);
    if (drawn.labels.defined()) problem.labels = drawn.labels.slice(0, begin, end);
    groups.push_back({problem, x0});
    begin = end;
  }
  return groups;
}

std::vector<ProblemGroup> BatchSource::make_problems(int64_t first, int64_t count) const {
  const c10::NoGradGuard no_grad;
  Drawn drawn = draw_images(first, count);
  return make_problems(drawn, first);
}

TrainingBatch BatchSource::finish(Drawn& drawn,
                                  int64_t first,
                                  const std::function<Tensor(Rng&)>& draw_sigma) const {
  const Tensor all_sigma = draw_sigma(drawn.rng).to(drawn.x0.options());
  const Tensor all_n = drawn.rng.normal(drawn.x0.sizes().vec(), drawn.x0.options());
  const NetworkInput& input = options_.input;
  TrainingBatch batch;
  int64_t begin = 0;
  for (const auto& [problem, x0] : make_problems(drawn, first)) {
    const int64_t end = begin + x0.size(0);
    const Tensor sigma = all_sigma.slice(0, begin, end), n = all_n.slice(0, begin, end);
    const Tensor x_t =
        input.is_bridge()
            ? on_bridge(bridge_of(input), x0, problem.A->format().picture(problem.y), sigma, n)
            : x0 + sigma * n;
    batch.groups.push_back({problem, x0, make_query(input, problem, x_t, edm().at(sigma))});
    begin = end;
  }
  return batch;
}

double BatchSource::sigma_max() const {
  return options_.input.is_bridge() ? bridge_of(options_.input).sigma_max()
                                    : std::numeric_limits<double>::infinity();
}

TrainingBatch BatchSource::draw(int64_t first, int64_t count) const {
  const c10::NoGradGuard no_grad;
  Drawn drawn = draw_images(first, count);
  return finish(drawn, first, [&](Rng& rng) {
    if (options_.input.is_bridge())
      return bridge_of(options_.input).sigma(1 - rng.uniform({count, 1, 1, 1}));
    return (rng.normal({count, 1, 1, 1}) * options_.p_std + options_.p_mean).exp();
  });
}

TrainingBatch BatchSource::draw_in_band(int64_t first, int64_t count, const Range& sigma) const {
  const c10::NoGradGuard no_grad;
  Drawn drawn = draw_images(first, count);
  const Range logs{std::log(std::min(sigma.low, sigma_max())),
                   std::log(std::min(sigma.high, sigma_max()))};
  return finish(drawn, first, [&](Rng& rng) { return draw_in(logs, drawn.x0, rng).exp(); });
}

}  // namespace eps::training
