// The measurement noise sigma_y, estimated from the measurement itself.
#include "eps/restore/noise_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eps/restore/noise_model.h"
#include "eps/restore/training_range.h"

namespace eps {
namespace {

// Returns f(a, b, c, d) of all 2 x 2 neighbours a b / c d, which overlap because a sparse mask has
// few of them.
template <class Function>
Tensor of_neighbours(const Tensor& image, const Function& f) {
  const auto part = [&](int64_t row, int64_t column) {
    return image.slice(2, row, image.size(2) - 1 + row)
        .slice(3, column, image.size(3) - 1 + column);
  };
  return f(part(0, 0), part(0, 1), part(1, 0), part(1, 1));
}

}  // namespace

double robust_noise_level(const Tensor& y, const Tensor& measured) {
  constexpr int64_t kFewest = 30;     // the standard error is then about a fifth
  constexpr double kNormal = 0.6745;  // median of |n| for n ~ N(0, 1)
  check(y.dim() == 4,
        "noise level: an image-like measurement, N x C x H x W, is wanted, got ",
        to_string(y.sizes()),
        "; state the noise instead");
  Tensor detail = of_neighbours(
      y.to(at::kDouble), [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
        return (a - b - c + d) / 2;
      });
  if (measured.defined()) {
    const Tensor all =
        of_neighbours(measured.expand_as(y) != 0,
                      [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
                        return a & b & c & d;
                      });
    detail = detail.masked_select(all);
  }
  check(detail.numel() >= kFewest,
        "too few neighbouring measurements to estimate the noise: ",
        detail.numel(),
        " times 2 x 2, at least ",
        kFewest,
        " are wanted; state it instead");
  return detail.abs().median().item<double>() / kNormal;
}

std::string noise_excess_words(double fitted, double robust, const Range& range) {
  const double least = std::max(robust + kGreyLevel / 2, range.low);
  if (fitted <= kNoiseExcess * least) return "";
  return fmt::format(
      "the noise that the fit wants, {:.3g} grey levels, is larger than the finest detail of the "
      "measurement has, {:.2g}: the rest is what the operator cannot explain; most likely it is "
      "not the one that made the measurement",
      fitted / kGreyLevel,
      robust / kGreyLevel);
}

Range noise_search_range(const Checkpoint& network, const std::string& name, double noise_factor) {
  const Range trained = trained_noise(network.provenance);
  check(trained.high > 0, name, ": was trained without noise; state the noise instead");
  const double least = std::max(trained.low / noise_factor, 1e-3);
  return {least, std::max(least, std::min(trained.high / noise_factor, 1.0))};
}

double likely_noise_level(const MethodChoice& choice,
                          const Denoiser& denoiser,
                          Problem problem,
                          const Range& range,
                          const RestorationOptions& options) {
  constexpr double kSteep = -2, kFlat = -0.3;  // slopes: of fixed samples, and the flattest used
  check(range.low > 0 && range.high >= range.low,
        "noise level: a range above 0 is wanted, got ",
        range.low,
        "..",
        range.high);
  const double least = std::log(range.low), most = std::log(range.high);
  double place = std::clamp(std::log(problem.sigma_y.item<double>()), least, most);
  double slope = kSteep, before = 0, misfit_before = 0;
  for (int round = 0; round < kNoiseRounds; ++round) {
    problem.sigma_y = scalar(std::exp(place));
    // Samples that are all clipped can fit without any residual.
    const double chi2 = std::max(restore(choice, denoiser, problem, options).chi2, 1e-9);
    const double misfit = std::log(chi2);
    if (round > 0 && place != before)
      slope = std::clamp((misfit - misfit_before) / (place - before), kSteep, kFlat);
    before = place;
    misfit_before = misfit;
    place = std::clamp(place - misfit / slope, least, most);
    if (std::abs(place - before) < 0.01) break;
  }
  return std::exp(place);
}

// Few samples suffice, as each has many measurements; too few steps would lose some of the noise.
double estimate_noise(const Checkpoint& network,
                      const std::string& name,
                      const Denoiser& denoiser,
                      Problem problem,
                      RestorationOptions options) {
  const Tensor& y = problem.y;
  const double start = robust_noise_level(y, problem.A->format().measured(at::ones_like(y)));
  problem.sigma_y = scalar(start);
  options.samples = y.numel() > kManyMeasurements ? 1 : kNoiseSamples;
  options.channels = network.network.config().img_channels;
  const Range range = noise_search_range(network, name, noise_factor(problem, options.channels));
  return likely_noise_level(method_for(method_served_by(network.input), "", start, kNoiseSteps),
                            denoiser,
                            problem,
                            range,
                            options);
}

}  // namespace eps
