// Separable Lanczos resampling as two matrix products.
#include "eps/io/images/resize.h"

#include <cmath>
#include <numbers>

namespace eps {
namespace {

constexpr double kLobes = 3;
// Weights are whole multiples of 2^-22: their products with bytes add up exactly in float64.
constexpr double kOne = 1 << 22;

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double lanczos(double x) { return std::abs(x) < kLobes ? sinc(x) * sinc(x / kLobes) : 0; }

// Row i holds the weights, times kOne, of the input pixels in output pixel i: float64 (out, in).
Tensor lanczos_weights(int64_t in, int64_t out) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  const double stretch = std::max(step, 1.0);  // cuts off at the new Nyquist frequency
  const Tensor weights = at::zeros({out, in}, at::kDouble);
  for (int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    const auto first = static_cast<int64_t>(std::max(centre - kLobes * stretch + 0.5, 0.0));
    const auto last =
        static_cast<int64_t>(std::min(centre + kLobes * stretch + 0.5, static_cast<double>(in)));
    double* row = weights.data_ptr<double>() + i * in;
    double sum = 0;
    for (int64_t j = first; j < last; ++j) {
      row[j] = lanczos((static_cast<double>(j) - centre + 0.5) / stretch);
      sum += row[j];
    }
    for (int64_t j = first; j < last; ++j) row[j] = std::round(row[j] / sum * kOne);
  }
  return weights;
}

// Rounds fixed-point sums to the nearest byte.
Tensor to_bytes(const Tensor& sums) { return (sums / kOne + 0.5).floor_().clamp_(0, 255); }

}  // namespace

Tensor resize_lanczos(const Tensor& image, int64_t height, int64_t width) {
  check(image.dim() == 3 && image.scalar_type() == at::kByte && image.numel() > 0,
        "resize_lanczos: uint8 C x H x W is wanted, got ",
        image.dtype().name(),
        " ",
        to_string(image.sizes()));
  check(height >= 1 && width >= 1,
        "resize_lanczos: the new size must be at least 1 x 1, got ",
        height,
        " x ",
        width);
  Tensor x = image.to(at::kDouble);
  if (width != image.size(2)) {
    x = to_bytes(at::matmul(x, lanczos_weights(image.size(2), width).t()));
  }
  if (height != image.size(1)) {
    x = to_bytes(at::matmul(lanczos_weights(image.size(1), height), x));
  }
  return x.to(at::kByte);
}

}  // namespace eps
