// What the residual of samples says of the operator, in words.
#include "eps/restore/operator_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eps/operators/factories.h"

namespace eps {
namespace {

// A `Cause` is a statistic with the words for either sign of it. The strongest is named, but a
// vague one only where there is no other: samples that cannot fit have too little contrast and
// detail, whatever the reason.
struct Cause {
  const char* statistic;
  const char* positive;
  const char* negative;
  bool is_vague = false;
};

constexpr Cause kCauses[] = {
    {"border",
     "its border is another: the blur that made the measurement did not wrap around, as that of "
     "eps does, or the border was filled in",
     "its border is another: the border of the measurement was filled in or smoothed"},
    {"replicated",
     "its border is another: the blur that made the measurement did not wrap around, as that of "
     "eps does",
     "its border or its width is another"},
    {"width", "its kernel is too wide", "its kernel is too narrow"},
    {"shift_x",
     "its pixels lie elsewhere: another pixel grid, shifted sideways",
     "its pixels lie elsewhere: another pixel grid, shifted sideways"},
    {"shift_y",
     "its pixels lie elsewhere: another pixel grid, shifted up or down",
     "its pixels lie elsewhere: another pixel grid, shifted up or down"},
    {"sharpness",
     "its filter is another: the measurement is smoother",
     "its filter is another: the measurement is sharper, or has structure that the image cannot "
     "have",
     true},
    {"brightness",
     "the measurement has more contrast: it was made in other units or in linear light, or "
     "brightened",
     "the measurement has less contrast: it was made in other units or in linear light, or "
     "darkened",
     true},
};

std::string evidence(const ResidualTests& tests, const ResidualStatistic& one) {
  return fmt::format(
      "{} of the residual is {:.1f} standard deviations from that of noise, by "
      "chance {:.0e} at most",
      one.name,
      one.z,
      std::max(tests.p_value(one), 1e-99));
}

const ResidualStatistic& strongest(const ResidualTests& tests) {
  return *std::max_element(
      tests.statistics.begin(), tests.statistics.end(), [](const auto& a, const auto& b) {
        return std::abs(a.z) < std::abs(b.z);
      });
}

}  // namespace

std::optional<Problem> with_flipped_kernel(const Problem& problem) {
  const auto parameters = problem.A->format().parameters();
  const auto kernel = parameters.find("kernel");
  const Shape image = problem.image();
  if (kernel == parameters.end() || kernel->second.size(0) != 1 || problem.y.sizes() != image)
    return {};
  const Tensor& k = kernel->second;
  // A symmetric kernel of even size is flipped about a point between pixels, and so shifted.
  const Tensor flipped = k.flip({1, 2});
  if ((flipped - k).abs().max().item<double>() <= 1e-3 * k.abs().max().item<double>()) return {};
  Problem other = problem;
  other.A = circular_blur(flipped, image[2], image[3]);
  return other;
}

std::vector<std::string> operator_findings(const ResidualTests& tests,
                                           const std::optional<ResidualTests>& flipped,
                                           const std::string& spec) {
  if (!tests.any_found()) return {};
  const ResidualStatistic& most = strongest(tests);
  if (flipped && !flipped->any_found() && flipped->largest() < tests.largest() / 2)
    return {
        fmt::format("{}: its kernel is flipped: with the kernel turned by 180 degrees the "
                    "residual is like noise; eps convolves, other programs correlate ({})",
                    spec,
                    evidence(tests, most))};
  const Cause* named = nullptr;
  double largest = 0;
  for (const Cause& cause : kCauses) {
    const ResidualStatistic* one = tests.find(cause.statistic);
    if (!one || !tests.found(*one) || std::abs(one->z) <= largest) continue;
    if (named && cause.is_vague) continue;
    largest = std::abs(one->z);
    named = &cause;
  }
  const ResidualStatistic& shown = named ? *tests.find(named->statistic) : most;
  const char* words = !named        ? "the residual is no white noise: the operator is another, or "
                                      "the noise is not white"
                      : shown.z > 0 ? named->positive
                                    : named->negative;
  return {fmt::format("{}: {} ({})", spec, words, evidence(tests, shown))};
}

}  // namespace eps
