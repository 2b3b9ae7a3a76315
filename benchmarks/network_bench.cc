// Milliseconds of one denoiser evaluation for EDM's public configurations, with random weights.
//
//   network_bench [--cpu]
//
// A GPU computes in float16, with batches of 1, 8 and 64. Times are medians of rounds of
// evaluations, each round synchronised.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "eps/model/preconditioned_query.h"

namespace eps {
namespace {

double milliseconds(const nets::UNet& network, int64_t batch, int64_t rounds) {
  const auto& config = network.config();
  Rng rng(1);
  const Shape shape{batch, config.img_channels, config.img_resolution, config.img_resolution};
  const Tensor x = rng.normal(shape, at::TensorOptions(network.device()).dtype(at::kFloat));
  const Tensor sigma = at::full({1}, 1.0, x.options());
  const Tensor labels =
      config.label_dim
          ? at::one_hot(at::zeros({batch}, at::kLong), config.label_dim).to(x.options())
          : Tensor();
  const int64_t evaluations = network.device().is_cuda() ? 10 : 1;
  std::vector<double> times;
  for (int64_t round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    Tensor mean;
    for (int64_t i = 0; i < evaluations; ++i)
      mean = denoise(network, {}, x, sigma, {.labels = labels});
    mean.flatten()[0].item<float>();  // waits for the device
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count() /
        static_cast<double>(evaluations));
  }
  times.erase(times.begin(), times.begin() + rounds / 3);  // warm-up
  std::nth_element(
      times.begin(), times.begin() + static_cast<int64_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  using namespace eps;
  const bool cpu = (argc > 1 && std::strcmp(argv[1], "--cpu") == 0) || !at::hasCUDA();
  const c10::NoGradGuard no_gradients;
  std::printf("| network | batch | dtype | ms per evaluation |\n| --- | --- | --- | --- |\n");
  for (const char* name : {"imagenet64", "ffhq64"}) {
    nets::UNet network(nets::unet_preset(name));
    Rng rng(0);
    network.initialise(rng);
    for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat}) {
      if (cpu && dtype != at::kFloat) continue;
      network.to(cpu ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0), dtype);
      for (const int64_t batch : {1, 8, 64}) {
        if (cpu && batch > 1) continue;
        std::printf("| %s | %ld | %s | %.2f |\n",
                    name,
                    static_cast<long>(batch),
                    c10::toString(dtype),
                    milliseconds(network, batch, 9));
        std::fflush(stdout);
      }
    }
  }
}
