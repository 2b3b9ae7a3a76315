// The claim that pictures restored tile by tile have no seams.
#include "eps/verify/tiles.h"

#include "eps/diffusion/sampler.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/task.h"

namespace eps {
namespace {

// Returns a small local network for the posterior in which no weight is 0.
Checkpoint random_network(Rng& rng) {
  nets::UNetConfig config = nets::unet_preset("local");
  config.model_channels = 8;
  config.channel_mult = {1, 2, 2};
  config.num_blocks = 1;
  const NetworkInput input = NetworkInput::eps_precision.with(Channel::skip);
  config.in_channels = input.channels(config.img_channels);
  Checkpoint checkpoint{.network = nets::UNet(config),
                        .preconditioning = {.kind = Preconditioning::Kind::anisotropic},
                        .input = input};
  checkpoint.network.initialise(rng);
  for (const auto& [name, tensor] : checkpoint.network.parameters())
    tensor.add_(rng.normal(tensor.sizes().vec(), tensor.options()), 0.05);
  return checkpoint;
}

}  // namespace

double tiles_error(const std::string& spec, uint64_t seed) {
  const c10::NoGradGuard no_grad;
  const Shape image{1, 3, 90, 118};  // the levels divide neither side
  constexpr double kTile = 70;       // pixels of a side, halo included
  Rng rng(seed);
  const Checkpoint network = random_network(rng);
  const Tensor x0 = 0.5 * rng.normal(image, at::kFloat);
  const Problem problem = observe(make_operator(spec, x0, rng), x0, scalar(0.05), rng);
  SamplerOptions options;
  options.grid.steps = 6;
  const auto samples = [&](int64_t bytes) {
    const NetworkDenoiser denoiser(network, bytes);
    Rng stream(seed + 1, 1);
    return sample(posterior_mean(denoiser, problem, edm(), network.input.without(Channel::skip)),
                  edm(),
                  image,
                  options,
                  stream);
  };
  const double pixel = nets::bytes_of_pixel(network.network.plan(), at::kFloat);
  const Tensor whole = samples(int64_t{1} << 40);
  const Tensor tiled = samples(static_cast<int64_t>(kTile * kTile * pixel));
  return ((tiled - whole).norm() / whole.norm()).item<double>();
}

}  // namespace eps
