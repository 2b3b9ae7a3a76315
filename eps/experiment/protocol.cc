// Problems made of clean images, and samples of them by a method.
#include "eps/experiment/protocol.h"

#include "eps/operators/task.h"

namespace eps::experiment {
namespace {

// Returns the problem of the images [begin, end), where image N is image 0 again.
Problem problem_of(
    const Protocol& protocol, const Images& images, int64_t begin, int64_t end, at::Device device) {
  std::vector<uint64_t> numbers;
  for (int64_t i = begin; i < end; ++i)
    numbers.push_back(static_cast<uint64_t>(i % images.x0.size(0)));
  const Tensor chosen = at::arange(begin, end).remainder(images.x0.size(0));
  const Tensor x0 = images.x0.cpu().index_select(0, chosen).to(device, at::kDouble);
  Rng for_operator(derive_seed(protocol.seed, Stream::measurement_operator), numbers);
  Rng for_noise(derive_seed(protocol.seed, Stream::measurement_noise), numbers);
  const Operator A = make_operator(find_task(protocol.task).test, x0, for_operator);
  Problem problem = observe(A, x0, scalar(protocol.sigma_y), for_noise);
  if (images.labels.defined())
    problem.labels = images.labels.cpu().index_select(0, chosen).to(device);
  return problem;
}

// Throws an Error unless a file with one operator for each image has as many operators as there are
// images, which a batch cannot check.
void check_operators(const Protocol& protocol, const Images& images) {
  Rng rng(protocol.seed, images.x0.size(0));
  make_operator(find_task(protocol.task).test, images.x0, rng);
}

}  // namespace

std::vector<Problem> make_problems(const Protocol& protocol,
                                   const Images& images,
                                   at::Device device) {
  check_operators(protocol, images);
  const int64_t count = images.x0.size(0);
  std::vector<Problem> problems;
  for (int64_t begin = 0; begin < count; begin += protocol.batch)
    problems.push_back(
        problem_of(protocol, images, begin, std::min(begin + protocol.batch, count), device));
  return problems;
}

Cost draw_samples(const Protocol& protocol,
                  const MethodChoice& choice,
                  const Denoiser& denoiser,
                  const Images& images,
                  at::Device device,
                  int64_t samples,
                  const SampleOptions& options,
                  const std::function<void(const Tensor& samples)>& append) {
  check_operators(protocol, images);
  const int64_t count = images.x0.size(0), all = samples * count;
  Cost cost;
  for (int64_t begin = 0; begin < all; begin += protocol.batch) {
    const int64_t end = std::min(begin + protocol.batch, all);
    std::vector<uint64_t> streams;  // one for each sample of each image
    for (int64_t i = begin; i < end; ++i)
      streams.push_back(static_cast<uint64_t>(i / count) << 32 | static_cast<uint64_t>(i % count));
    Rng rng(derive_seed(protocol.seed, Stream::posterior_sample), streams);
    Shape shape = images.x0.sizes().vec();
    shape[0] = end - begin;
    const Samples drawn = sample_posterior(
        choice, denoiser, problem_of(protocol, images, begin, end, device), shape, rng, options);
    append(drawn.images);
    cost += drawn.cost;
  }
  return cost;
}

}  // namespace eps::experiment
