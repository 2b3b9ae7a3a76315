// Power spectra at the frequencies of images of another size.
#include "eps/math/spectrum.h"

namespace eps {
namespace {

// A `Between` holds, for each frequency of one side, the two nearest known ones and the weight of
// the second.
struct Between {
  Tensor first, second, weight;
};

// Frequencies k/n, k = 0 ... count - 1, between known ones j/known of a period of `known`.
Between between(int64_t count, int64_t n, int64_t known, const at::TensorOptions& options) {
  const Tensor place = at::arange(count, options.dtype(at::kDouble)) *
                       (static_cast<double>(known) / static_cast<double>(n));
  const Tensor below = place.floor();
  const Tensor first = below.to(at::kLong);
  return {at::remainder(first, known), at::remainder(first + 1, known), place - below};
}

}  // namespace

Tensor resampled_spectrum(const Tensor& spectrum, int64_t height, int64_t width) {
  // The width of the images with this spectrum is taken to be even.
  const int64_t h = spectrum.size(0), w = 2 * (spectrum.size(1) - 1);
  if (h == height && spectrum.size(1) == width / 2 + 1) return spectrum;
  const Tensor log = spectrum.to(at::kDouble).clamp_min(1e-12).log();
  const Between rows = between(height, height, h, spectrum.options());
  const Between columns = between(width / 2 + 1, width, w, spectrum.options());
  // Beyond the largest frequency the spectrum mirrors itself, with the rows of -k.
  const Tensor mirrored = log.slice(1, 1, w / 2).flip({0, 1}).roll(1, 0);
  const Tensor all = at::cat({log, mirrored}, 1);  // (h, w)
  const auto mixed = [](const Tensor& a, const Tensor& b, const Tensor& weight) {
    return a + weight * (b - a);
  };
  const Tensor of_rows = mixed(
      all.index_select(0, rows.first), all.index_select(0, rows.second), rows.weight.unsqueeze(1));
  return mixed(of_rows.index_select(1, columns.first),
               of_rows.index_select(1, columns.second),
               columns.weight)
      .exp()
      .to(spectrum.scalar_type());
}

}  // namespace eps
