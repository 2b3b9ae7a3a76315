// Problems made of clean images, and samples of them by a method.
#include "eps/experiment/protocol.h"

#include "eps/operators/dense_basis.h"
#include "eps/operators/task.h"

namespace eps::experiment {
namespace {

// Returns the problem of the images [begin, end), where image N is image 0 again, with the `given`
// operator, if there is one.
Problem problem_of(const Protocol& protocol,
                   const Images& images,
                   int64_t begin,
                   int64_t end,
                   at::Device device,
                   const Operator& given = nullptr) {
  std::vector<uint64_t> numbers;
  for (int64_t i = begin; i < end; ++i)
    numbers.push_back(static_cast<uint64_t>(i % images.x0.size(0)));
  const Tensor chosen = at::arange(begin, end).remainder(images.x0.size(0));
  const Tensor x0 = images.x0.cpu().index_select(0, chosen).to(device, at::kDouble);
  Rng for_operator(derive_seed(protocol.seed, Stream::measurement_operator), numbers);
  Rng for_noise(derive_seed(protocol.seed, Stream::measurement_noise), numbers);
  const Operator A = given ? given : make_operator(find_task(protocol.task).test, x0, for_operator);
  Problem problem = observe(A, x0, scalar(protocol.sigma_y), for_noise);
  if (images.labels.defined())
    problem.labels = images.labels.cpu().index_select(0, chosen).to(device);
  return problem;
}

// Returns the operator of all images, where the task has one for all of them, prepared for so many
// evaluations of each of the batches; nothing elsewhere.
Operator common_operator(const Protocol& protocol,
                         const Images& images,
                         at::Device device,
                         int64_t batches,
                         int64_t evaluations) {
  const std::string spec = find_task(protocol.task).test;
  if (is_random(spec)) return nullptr;
  const Tensor like = images.x0.slice(0, 0, 1).to(device, at::kDouble);
  Rng rng(protocol.seed);
  const Operator A = make_operator(spec, like, rng);
  if (A->format().batch() != 1) return nullptr;
  return for_many_evaluations(A, like, batches * evaluations);
}

// Returns the size of a batch: the protocol's, or all images where a file has one operator for each
// image. Throws an Error if the file has neither one operator nor as many as there are images.
int64_t batch_of(const Protocol& protocol, const Images& images) {
  const std::string spec = find_task(protocol.task).test;
  const int64_t count = images.x0.size(0);
  Rng rng(protocol.seed, count);
  const Operator A = make_operator(spec, images.x0, rng);
  return !is_random(spec) && A->format().batch() > 1 ? count : protocol.batch;
}

}  // namespace

std::vector<Problem> make_problems(const Protocol& protocol,
                                   const Images& images,
                                   at::Device device) {
  const int64_t count = images.x0.size(0), batch = batch_of(protocol, images);
  std::vector<Problem> problems;
  for (int64_t begin = 0; begin < count; begin += batch)
    problems.push_back(problem_of(protocol, images, begin, std::min(begin + batch, count), device));
  return problems;
}

Problem first_problem(const Protocol& protocol, const Images& images, at::Device device) {
  const int64_t batch = std::min(batch_of(protocol, images), images.x0.size(0));
  return problem_of(protocol, images, 0, batch, device);
}

Cost draw_samples(const Protocol& protocol,
                  const MethodChoice& choice,
                  const Denoiser& denoiser,
                  const Images& images,
                  at::Device device,
                  int64_t samples,
                  const SampleOptions& options,
                  const std::function<void(const Tensor& samples)>& append) {
  const int64_t count = images.x0.size(0), all = samples * count;
  const int64_t batch = batch_of(protocol, images);
  const Operator common = common_operator(
      protocol, images, device, (all + batch - 1) / batch, measured_cost(choice).evaluations);
  Cost cost;
  for (int64_t begin = 0; begin < all; begin += batch) {
    const int64_t end = std::min(begin + batch, all);
    std::vector<uint64_t> streams;  // one for each sample of each image
    for (int64_t i = begin; i < end; ++i)
      streams.push_back(static_cast<uint64_t>(i / count) << 32 | static_cast<uint64_t>(i % count));
    Rng rng(derive_seed(protocol.seed, Stream::posterior_sample), streams);
    Shape shape = images.x0.sizes().vec();
    shape[0] = end - begin;
    const Samples drawn = sample_posterior(choice,
                                           denoiser,
                                           problem_of(protocol, images, begin, end, device, common),
                                           shape,
                                           rng,
                                           options);
    append(drawn.images);
    cost += drawn.cost;
  }
  return cost;
}

}  // namespace eps::experiment
