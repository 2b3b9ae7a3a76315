// Clean images, degraded as a task does and restored by a method.
#include "eps/experiment/protocol.h"

#include "eps/operators/task.h"

namespace eps::experiment {
namespace {

// What the streams of random numbers are for.
enum Purpose : uint64_t { kOperator, kMeasurement, kSample };

// The problem of the images [begin, end), counted on from the first behind the last.
Problem pose_some(
    const Protocol& trial, const Images& images, int64_t begin, int64_t end, at::Device device) {
  std::vector<uint64_t> numbers;
  for (int64_t i = begin; i < end; ++i)
    numbers.push_back(static_cast<uint64_t>(i % images.x0.size(0)));
  const Tensor chosen = at::arange(begin, end).remainder(images.x0.size(0));
  const Tensor x0 = images.x0.cpu().index_select(0, chosen).to(device, at::kDouble);
  Rng for_operator(derive_seed(trial.seed, kOperator), numbers);
  Rng for_noise(derive_seed(trial.seed, kMeasurement), numbers);
  const Operator A = make_operator(find_task(trial.task).test, x0, for_operator);
  Problem problem = observe(A, x0, scalar(trial.sigma_y), for_noise);
  if (images.labels.defined())
    problem.labels = images.labels.cpu().index_select(0, chosen).to(device);
  return problem;
}

// A file with one operator for each image must have as many as there are images, also where they
// are taken in batches.
void check_operators(const Protocol& trial, const Images& images) {
  Rng rng(trial.seed, images.x0.size(0));
  make_operator(find_task(trial.task).test, images.x0, rng);
}

}  // namespace

std::vector<Problem> pose(const Protocol& trial, const Images& images, at::Device device) {
  check_operators(trial, images);
  const int64_t count = images.x0.size(0);
  std::vector<Problem> problems;
  for (int64_t begin = 0; begin < count; begin += trial.batch)
    problems.push_back(
        pose_some(trial, images, begin, std::min(begin + trial.batch, count), device));
  return problems;
}

Cost restore(const Protocol& trial,
             const MethodChoice& choice,
             const Denoiser& denoiser,
             const Images& images,
             at::Device device,
             int64_t samples,
             const SampleOptions& options,
             const std::function<void(const Tensor& samples)>& take) {
  check_operators(trial, images);
  const int64_t count = images.x0.size(0), all = samples * count;
  Cost cost;
  for (int64_t begin = 0; begin < all; begin += trial.batch) {
    const int64_t end = std::min(begin + trial.batch, all);
    std::vector<uint64_t> streams;  // one for each sample of each image, whatever their numbers
    for (int64_t i = begin; i < end; ++i)
      streams.push_back(static_cast<uint64_t>(i / count) << 32 | static_cast<uint64_t>(i % count));
    Rng rng(derive_seed(trial.seed, kSample), streams);
    Shape shape = images.x0.sizes().vec();
    shape[0] = end - begin;
    const Samples drawn = sample_posterior(
        choice, denoiser, pose_some(trial, images, begin, end, device), shape, rng, options);
    take(drawn.images);
    cost += drawn.cost;
  }
  return cost;
}

}  // namespace eps::experiment
