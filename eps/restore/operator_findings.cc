// What the residual of samples says of the operator, in words.
#include "eps/restore/operator_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eps/operators/factories.h"
#include "eps/restore/blur_kernel.h"

namespace eps {
namespace {

// A `Cause` is a statistic with the words for either sign of it; words_of() has those of a border,
// which depend on the operator. The strongest is named, but a vague one only where there is no
// other: samples that cannot fit have too little contrast and detail, whatever the reason. An
// excess at the border counts double: a kernel of another width leaves none there, while a wrong
// border also looks like a kernel of another width.
struct Cause {
  const char* statistic;
  const char* positive;
  const char* negative;
  bool is_vague = false;
  double weight_of_excess = 1;

  double strength(double z) const { return z > 0 ? weight_of_excess * z : -z; }
};

constexpr Cause kCauses[] = {
    {"border", "", "", false, 2},
    {"replicated", "", ""},
    {"wrapped", "", ""},
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

// Returns what a residual that is larger (or smaller) at the border means for this operator.
std::string border_words(const std::optional<Border>& border, bool larger) {
  if (!border)
    return larger ? "it does not hold at the border of the measurement, or the border was filled in"
                  : "the border of the measurement was filled in or smoothed";
  if (*border == Border::valid)
    return larger
               ? "its kernel reaches farther than declared, or the border of the measurement was "
                 "filled in"
               : "the border of the measurement was filled in or smoothed";
  if (!larger)
    return "its border is another: the border of the measurement was filled in or smoothed";
  return *border == Border::circular
             ? "its border is another: the blur that made the measurement did not wrap around, as "
               "declared, or the border was filled in"
             : "its border is another than " + to_string(*border) + ", or was filled in";
}

// Returns what a residual along (or against) another border means.
std::string other_border_words(const std::optional<Border>& border, bool along) {
  if (!along) return "its border or its width is another";
  if (border == Border::replicate)
    return "its border is another: the blur that made the measurement wraps around";
  return border == Border::circular
             ? "its border is another: the blur that made the measurement did not wrap around, as "
               "declared"
             : "its border is another than " + (border ? to_string(*border) : "declared");
}

std::string words_of(const Cause& cause, double z, const std::optional<Border>& border) {
  const std::string name = cause.statistic;
  if (name == "border") return border_words(border, z > 0);
  if (name == "replicated" || name == "wrapped") return other_border_words(border, z > 0);
  return z > 0 ? cause.positive : cause.negative;
}

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

std::optional<Problem> with_flipped_kernel(const Problem& problem,
                                           const std::optional<Border>& border) {
  const Tensor kernel = kernel_of(*problem.A);
  if (!border || !kernel.defined() || !is_lopsided(kernel)) return {};
  const Shape image = problem.image();
  Problem other = problem;
  other.A = blur(kernel.flip({0, 1}).unsqueeze(0), image[2], image[3], *border);
  // A blur of several steps, such as one that also reduces, has another frame.
  if (other.A->apply(at::zeros(image, problem.y.options())).sizes() != problem.y.sizes()) return {};
  return other;
}

std::vector<std::string> operator_findings(const ResidualTests& tests,
                                           const std::optional<KernelTrial>& trial,
                                           const std::string& spec,
                                           const std::optional<Border>& border) {
  if (trial && trial->is_flipped())
    return {
        fmt::format("{}: its kernel is flipped: turned by 180 degrees it explains the measurement "
                    "better; eps convolves, other programs correlate (chi2 at a noise of {:.3g}: "
                    "{:.4g}, flipped {:.4g})",
                    spec,
                    trial->sigma_y,
                    trial->given,
                    trial->flipped)};
  if (!tests.any_found()) return {};
  const Cause* named = nullptr;
  double largest = 0;
  for (const Cause& cause : kCauses) {
    const ResidualStatistic* one = tests.find(cause.statistic);
    if (!one || !tests.found(*one) || cause.strength(one->z) <= largest) continue;
    if (named && cause.is_vague) continue;
    largest = cause.strength(one->z);
    named = &cause;
  }
  const ResidualStatistic& shown = named ? *tests.find(named->statistic) : strongest(tests);
  const std::string words = named ? words_of(*named, shown.z, border)
                                  : "the residual is no white noise: the operator is another, or "
                                    "the noise is not white";
  return {fmt::format("{}: {} ({})", spec, words, evidence(tests, shown))};
}

}  // namespace eps
