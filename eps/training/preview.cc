// A picture of what a network does by now.
#include "eps/training/preview.h"

#include "eps/diffusion/bridge.h"
#include "eps/diffusion/sampler.h"
#include "eps/io/images/image.h"

namespace eps::training {

Tensor preview(const Checkpoint& model, const BatchSource& held_out, int64_t images) {
  const c10::NoGradGuard no_grad;
  const NetworkDenoiser denoiser(model);
  const BatchSource::Posed posed = held_out.pose(0, images);
  const Mean mean = posterior_mean(denoiser, posed.problem, edm(), model.input);
  const Shape shape = posed.x0.sizes().vec();
  const auto options = posed.x0.options().dtype(at::kDouble);
  const bool measured = model.input != Input::prior;
  const Tensor picture =
      measured ? posed.problem.A->picture(posed.problem.y).to(options) : Tensor();
  const auto draw = [&](uint64_t number, int64_t steps) {
    Rng rng(derive_seed(kHeldOutSeed, Stream::preview_sample, number), images);
    if (is_bridge(model.input))
      return cross_bridge(bridge_of(model.input), mean, picture, steps, rng);
    SamplerOptions sampler;
    sampler.grid.steps = steps;
    return sample(mean, edm(), shape, sampler, rng, options);
  };
  std::vector<Tensor> rows;
  if (measured) rows = {posed.x0, picture, draw(1, 1)};
  for (const uint64_t number : {1, 2}) rows.push_back(draw(number, 20));
  for (Tensor& row : rows) row = to_uint8(row.to(at::kCPU, at::kFloat));
  return image_grid(at::cat(rows), images);
}

}  // namespace eps::training
