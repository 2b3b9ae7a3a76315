// What is left to the size of a picture: samples, steps, memory, windows.
#include "eps/restore/large_pictures.h"

#include <algorithm>
#include <numeric>

#include "eps/math/pyramid.h"
#include "eps/runtime/memory.h"

namespace eps {

bool is_large(const Problem& problem) {
  const Shape image = problem.image();
  return image[2] * image[3] > kLarge;
}

int64_t steps_for(const RestorationRequest& request, const Problem& problem) {
  if (request.quick) return 1;
  const bool costly = is_large(problem) && problem.y.is_cpu() && request.method.empty();
  return request.steps == 0 && costly ? kLargeSteps : request.steps;
}

RestorationOptions options_for(const RestorationRequest& request,
                               const Checkpoint& network,
                               const Problem& problem) {
  constexpr double kTensors = 24;  // of an image in float64 beside the network, at the peak
  RestorationOptions options = request.options;
  options.channels = network.network.config().img_channels;
  if (request.quick) options.samples = 1;
  if (options.samples == 0) options.samples = is_large(problem) ? kLargeSamples : kSamples;
  if (options.batch == 0) {
    const double bytes = kTensors * 8 * static_cast<double>(options.channels) *
                         static_cast<double>(problem.image()[2] * problem.image()[3]);
    const auto memory = static_cast<double>(available_memory(problem.y.device()));
    options.batch = static_cast<int64_t>(std::clamp(memory / 2 / bytes, 1.0, 16.0));
  }
  return options;
}

std::vector<Window> windows_for(const RestorationRequest& request,
                                const OperatorChoice& chosen,
                                const Checkpoint& network,
                                const Problem& problem) {
  using Region = RestorationRequest::Region;
  const auto radius = network.network.plan().receptive_radius();
  const bool is_mask = chosen.name.starts_with("inpaint_");
  const bool allowed = is_mask && radius && request.noise.is_white() && !request.simulate;
  const bool wanted = request.region == Region::holes;
  check(allowed || !wanted,
        "region holes: a mask, a network for pictures of any size and noise of one deviation are "
        "wanted, of a measurement that is not simulated");
  if (!allowed || request.region == Region::whole || !(wanted || is_large(problem))) return {};
  const Tensor measured = problem.A->format().measured(at::ones_like(problem.y))[0][0] != 0;
  // A window must reach as far as the estimate of its holes does, and lie on the same grid.
  int64_t margin = *radius, divisor = network.network.plan().divisor();
  if (network.preconditioning.prior_mean == "neighbours") {
    margin += kPyramidRadius;
    divisor = std::lcm(divisor, kPyramidBlock);
  }
  std::vector<Window> windows = windows_around(measured, margin, divisor);
  check(!windows.empty() || !wanted, "region holes: nothing is missing");
  int64_t pixels = 0;
  for (const Window& window : windows) pixels += window.pixels();
  if (!wanted && 2 * pixels >= measured.numel()) return {};
  std::stable_sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return a.pixels() > b.pixels();
  });
  return windows;
}

}  // namespace eps
