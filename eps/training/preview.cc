// A picture of a network's restorations during training.
#include "eps/training/preview.h"

#include "eps/diffusion/bridge.h"
#include "eps/diffusion/sampler.h"
#include "eps/io/images/image.h"

namespace eps::training {

Tensor preview(const Checkpoint& model, const BatchSource& held_out, int64_t images) {
  const c10::NoGradGuard no_grad;
  const NetworkDenoiser denoiser(model);
  const std::vector<ProblemGroup> groups = held_out.make_problems(0, images);
  const auto of_groups = [&](const auto& f) {
    std::vector<Tensor> parts;
    for (const ProblemGroup& group : groups) parts.push_back(f(group));
    return at::cat(parts);
  };
  const Tensor x0 = of_groups([](const ProblemGroup& group) { return group.x0; });
  // Each group has its own problem.
  const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
    int64_t begin = 0;
    return of_groups([&](const ProblemGroup& group) {
      const Tensor own = x.slice(0, begin, begin + group.x0.size(0));
      begin += group.x0.size(0);
      return posterior_mean(denoiser, group.problem, edm(), model.input)(own, sigma);
    });
  };
  const Shape shape = x0.sizes().vec();
  const auto options = x0.options().dtype(at::kDouble);
  const bool measured = model.input.conditional();
  const auto picture_of = [&](const ProblemGroup& group) {
    return group.problem.A->format().picture(group.problem.y).to(options);
  };
  const Tensor picture = measured ? of_groups(picture_of) : Tensor();
  const auto draw = [&](uint64_t number, int64_t steps) {
    Rng rng(derive_seed(kHeldOutSeed, Stream::preview_sample, number), images);
    if (model.input.is_bridge())
      return cross_bridge(bridge_of(model.input), mean, picture, steps, rng);
    SamplerOptions sampler;
    sampler.grid.steps = steps;
    const Tensor grid = noise_levels(denoiser, sampler.grid);
    const Tensor start = initial_state(edm(), grid, rng.normal(shape, options));
    return solve(mean, edm(), start, grid, sampler, rng);
  };
  std::vector<Tensor> rows;
  if (measured) rows = {x0, picture, draw(1, 1)};
  for (const uint64_t number : {1, 2}) rows.push_back(draw(number, 20));
  for (Tensor& row : rows) row = to_uint8(row.to(at::kCPU, at::kFloat));
  return image_grid(at::cat(rows), images);
}

}  // namespace eps::training
