// A picture of what a network does by now.
#include "eps/preview.h"

#include "eps/io/image.h"
#include "eps/sampler.h"

namespace eps {

Tensor preview(const Checkpoint& model, const BatchSource& held_out, int64_t images) {
  const c10::NoGradGuard no_grad;
  const NetworkDenoiser denoiser(model);
  const BatchSource::Posed posed = held_out.pose(0, images);
  const Mean mean = posterior_mean(denoiser, posed.problem, edm(), model.input);
  const Shape shape = posed.x0.sizes().vec();
  const auto options = posed.x0.options().dtype(at::kDouble);
  std::vector<Tensor> rows;
  if (model.input != Input::prior) {
    rows = {posed.x0, posed.problem.A->picture(posed.problem.y)};
    const double sigma = GridOptions{}.sigma_max;
    rows.push_back(mean(sigma * Rng(1, images).normal(shape, options), scalar(sigma)));
  }
  for (const uint64_t seed : {1, 2}) {
    Rng rng(seed, images);
    rows.push_back(sample(mean, edm(), shape, {}, rng, options));
  }
  for (Tensor& row : rows) row = to_uint8(row.to(at::kCPU, at::kFloat));
  return image_grid(at::cat(rows), images);
}

}  // namespace eps
