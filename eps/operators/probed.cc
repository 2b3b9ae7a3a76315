// Diagonals of functions of A'A by probing.
#include "eps/operators/probed.h"

#include <algorithm>

#include "eps/base/lasting.h"
#include "eps/base/random.h"
#include "eps/math/spectral_measure.h"
#include "eps/math/spectrum.h"
#include "eps/operators/converted.h"

namespace eps {
namespace {

// Returns the abscissa of a power curve. Eigenvalues far below a thousandth of the largest count as
// one, since next to nothing was measured along their directions.
Tensor curve_abscissa(const Tensor& e, const Tensor& largest) { return (e / largest + 1e-3).log(); }

}  // namespace

Tensor random_signs(const Tensor& like, uint64_t seed) {
  const Tensor number = Rng(seed).uniform({1, like.size(1), like.size(2), like.size(3)});
  return at::where(number < 0.5, -1.0, 1.0).to(like.options());
}

Tensor Probed::probe_diagonal(const Tensor& like, const Map& map) const {
  const Tensor signs = random_signs(like);
  Tensor diagonal = at::zeros_like(like);
  for (int64_t c = 0; c < like.size(1); ++c)
    for (int64_t row = 0; row < std::min(kSpacing, like.size(2)); ++row)
      for (int64_t column = 0; column < std::min(kSpacing, like.size(3)); ++column) {
        const auto places = [&](const Tensor& image) {
          return image.select(1, c)
              .slice(1, row, image.size(2), kSpacing)
              .slice(2, column, image.size(3), kSpacing);
        };
        Tensor probe = at::zeros_like(like);
        places(probe).copy_(places(signs).expand_as(places(probe)));
        places(diagonal).copy_(places(map(probe)) * places(signs));
      }
  return diagonal;
}

Tensor Probed::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  return probe_diagonal(like, [&](const Tensor& x) { return filter(x, f); });
}

Tensor Probed::mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const {
  // An image of many pixels is a sample large enough: 4 probes up to 16,384 numbers, then fewer.
  constexpr int64_t kNumbers = 65536;
  const int64_t probes =
      std::clamp<int64_t>(kNumbers * like.size(0) / std::max<int64_t>(like.numel(), 1), 1, 4);
  Tensor sum = at::zeros({like.size(0), 1, 1, 1}, like.options());
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(probes); ++seed) {
    const Tensor probe = random_signs(like, seed).expand_as(like).contiguous();
    sum = sum + (probe * filter(probe, f)).mean({1, 2, 3}, true);
  }
  return sum / static_cast<double>(probes);
}

Tensor Probed::quick_diagonal(const Tensor& like, const EigenvalueMap& f) const {
  constexpr int64_t kSample = 4096;
  constexpr int kHalvings = 40;
  const Tensor known = normal_diagonal(like).expand({-1, like.size(1), like.size(2), like.size(3)});
  const Tensor mean = mean_eigenvalue(like, f).to(at::kCPU, at::kDouble);
  // An odd step meets all columns of an image.
  const int64_t step = (known[0].numel() / kSample) | 1;
  const Tensor some =
      known.flatten(1).slice(1, 0, known[0].numel(), step).to(at::kCPU, at::kDouble);
  const Tensor sample = some.reshape({known.size(0), 1, 1, -1});
  Tensor low = at::full_like(mean, -30), high = at::zeros_like(mean);  // ln c
  for (int i = 0; i < kHalvings; ++i) {
    const Tensor middle = (low + high) / 2;
    const Tensor above = f(middle.exp() * sample).mean({1, 2, 3}, true) > mean;
    low = at::where(above, middle, low);
    high = at::where(above, high, middle);
  }
  return f(high.exp().to(known.options()) * known);
}

Tensor Probed::normal_diagonal(const Tensor& like) const {
  if (const Tensor known = A_.structural_diagonal(like); known.defined())
    return known.to(like.options());
  const std::lock_guard lock(mutex_);
  const int64_t count = A_.format().batch() == 1 ? 1 : like.size(0);
  const bool known = normal_diagonal_.defined() && normal_diagonal_.size(0) == count &&
                     normal_diagonal_.sizes().slice(1) == like.sizes().slice(1) &&
                     normal_diagonal_.device() == like.device();
  if (!known) {
    const Lasting diagonal;
    const Tensor images = like.slice(0, 0, count).to(at::kDouble);
    // An unbiased estimate may fall below 0, where no diagonal of A'A is.
    normal_diagonal_ =
        probe_diagonal(images, [this](const Tensor& probe) { return normal(probe); }).clamp_min(0);
  }
  return normal_diagonal_.to(like.options());
}

Probed::PowerCurve Probed::fit_power(const Tensor& spectrum, const Tensor& like) const {
  constexpr int64_t kSteps = 64, kProbes = 4, kCentres = 14;
  const bool shared = A_.format().batch() == 1;
  const Tensor images = like.to(at::kDouble);
  std::vector<Tensor> all;
  for (uint64_t seed = 0; seed < (shared ? kProbes : 1); ++seed)
    all.push_back(random_signs(images.slice(0, 0, 1), seed));
  const Tensor white = shared ? at::cat(all) : all[0].expand_as(images).contiguous();
  const auto product = [this](const Tensor& u) { return normal(u); };
  const Tensor coloured = filter_spectrum(white, spectrum.to(images.options()).sqrt());
  const SpectralMeasure of_white = spectral_measure(product, white, kSteps);
  const SpectralMeasure of_data = spectral_measure(product, coloured, kSteps);
  const Tensor nodes = shared ? of_white.nodes.reshape({1, -1}) : of_white.nodes;
  const Tensor largest = nodes.amax(1, true).clamp_min(1e-12);  // (maps, 1)

  // Around each point of a grid, the power is the ratio of the masses of both.
  const Tensor ends = curve_abscissa(at::tensor({0.0, 1.0}, at::kDouble), scalar(1));
  const Tensor centres = at::linspace(ends[0].item(), ends[1].item(), kCentres, at::kDouble);
  const double width = 0.75 * (centres[1] - centres[0]).item<double>();
  const auto masses = [&](const SpectralMeasure& measure) {  // (maps, centres)
    const Tensor at_nodes = curve_abscissa(measure.nodes, largest);
    const Tensor near = (-((at_nodes.unsqueeze(2) - centres) / width).square() / 2).exp();
    const Tensor mass = (measure.weights.unsqueeze(2) * near).sum(1);
    return shared ? mass.sum(0, true) : mass;
  };
  const Tensor mass = masses(of_white), power = masses(of_data) / mass.clamp_min(1e-300);
  const Tensor weight = (mass / mass.sum(1, true)).sqrt() * (mass > 1e-4 * mass.sum(1, true));
  const Tensor design = at::stack({at::ones_like(centres), centres, centres.square()}, 1);
  const Tensor logarithm = power.clamp_min(1e-12).log();
  const Tensor fitted = at::matmul(at::linalg_pinv(weight.unsqueeze(2) * design, 1e-6),
                                   (weight * logarithm).unsqueeze(2));
  return {fitted.reshape({-1, 1, 1, 3}), largest.reshape({-1, 1, 1, 1})};
}

EigenvalueMap Probed::prior_power(const Tensor& spectrum, const Tensor& like) const {
  const PowerCurve curve = fit_power(spectrum, like);
  return [coefficients = Converted(curve.coefficients),
          largest = Converted(curve.largest)](const Tensor& e) {
    const Tensor u = curve_abscissa(e, largest.like(e)), c = coefficients.like(e);
    const auto term = [&](int64_t i) { return c.slice(3, i, i + 1); };
    return (term(0) + u * (term(1) + u * term(2))).exp();
  };
}

}  // namespace eps
