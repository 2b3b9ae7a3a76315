// Reduction of a picture as programs do it: a filter along rows and columns.
//
// With antialiasing the filter is stretched by the factor, as in Pillow's resize and PyTorch's
// interpolate(antialias=True); without, it interpolates the large picture at the centres of the
// small one's pixels, as in OpenCV's resize and PyTorch's interpolate().
#include <algorithm>
#include <cmath>
#include <numbers>

#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "eps/operators/separable.h"

namespace eps {
namespace {

const std::vector<std::string> kFilters = {"box", "bilinear", "bicubic", "lanczos"};

double sinc(double x) {
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

// Returns Keys' cubic convolution (1981) with the slope a at 1.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

// A `Resampling` is a filter and the half of its width, in pixels of the small picture where it is
// stretched, of the large one otherwise.
struct Resampling {
  double reach;
  std::function<double(double x)> weight;
};
Resampling resampling_of(const std::string& filter, bool antialias) {
  if (filter == "box") return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
  if (filter == "bilinear") return {1, [](double x) { return std::max(0.0, 1 - std::abs(x)); }};
  if (filter == "bicubic") {
    const double slope = antialias ? -0.5 : -0.75;
    return {2, [slope](double x) { return cubic(x, slope); }};
  }
  const double reach = antialias ? 3 : 4;
  return {reach,
          [reach](double x) { return std::abs(x) < reach ? sinc(x) * sinc(x / reach) : 0.0; }};
}

// Returns the matrix, (1, small, large), that takes the first of `scale` pixels.
Tensor nearest_matrix(int64_t large, int64_t small) {
  const Tensor row = at::arange(small, at::kLong);
  const Tensor first = at::floor_divide(row * large, small);
  return at::zeros({small, large}, at::kDouble).scatter(1, first.unsqueeze(1), 1.0).unsqueeze(0);
}

// Returns the matrix, (1, small, large). Weights are divided by their sum. A stretched filter ends
// at the border; one that interpolates finds there the last pixel again.
Tensor reduction_matrix(const std::string& filter, bool antialias, int64_t large, int64_t small) {
  if (filter == "box" && !antialias) return nearest_matrix(large, small);
  const Resampling resampling = resampling_of(filter, antialias);
  const double scale = static_cast<double>(large) / static_cast<double>(small);
  const double stretch = antialias ? scale : 1, reach = resampling.reach * stretch;
  Tensor matrix = at::zeros({1, small, large}, at::kDouble);
  auto entry = matrix.accessor<double, 3>();
  for (int64_t row = 0; row < small; ++row) {
    const double centre = (static_cast<double>(row) + 0.5) * scale;
    const auto first = static_cast<int64_t>(std::floor(centre - reach - 1));
    const auto last = static_cast<int64_t>(std::ceil(centre + reach + 1));
    double sum = 0;
    for (int64_t pixel = first; pixel <= last; ++pixel) {
      if (antialias && (pixel < 0 || pixel >= large)) continue;
      const double weight =
          resampling.weight((static_cast<double>(pixel) + 0.5 - centre) / stretch);
      entry[0][row][std::clamp<int64_t>(pixel, 0, large - 1)] += weight;
      sum += weight;
    }
    for (int64_t pixel = 0; pixel < large; ++pixel) entry[0][row][pixel] /= sum;
  }
  return matrix;
}

int64_t reduced(int64_t large, double factor) {
  check(factor <= static_cast<double>(large),
        "downscale: factor=",
        factor,
        " for a side of ",
        large,
        " pixels; at most ",
        large,
        " is wanted");
  return std::llround(static_cast<double>(large) / factor);
}

Operator make_downscale(const Spec& spec, const Tensor& like, Rng&) {
  const double factor = spec.real("factor");
  return downscale(spec.text("filter"),
                   spec.flag("antialias"),
                   {like.size(2), like.size(3)},
                   {reduced(like.size(2), factor), reduced(like.size(3), factor)},
                   like.device());
}

EPS_OPERATOR(
    {.name = "downscale",
     .summary = "reduction of a picture as Pillow (antialias=1) and OpenCV (antialias=0) do it",
     .example = "downscale:factor=2,filter=bicubic",
     .fields = {Field::real("factor",
                            "4",
                            {1, 1 << 20},
                            "pixels of the image to one of the measurement, also 1.5"),
                Field::choice("filter",
                              "bicubic",
                              kFilters,
                              "box: means (without antialias: every factor-th pixel)"),
                Field::flag("antialias", "1", "1: the filter is stretched by the factor")},
     .strengths = {"factor"},
     .make = make_downscale,
     .kind = "pooling",
     .image_shape = [](const Spec& spec, const Shape& y) {
       check(y.size() == 4, "downscale: a measurement is N x C x H x W, got ", to_string(y));
       const auto large = [&](int64_t small) {
         return std::llround(static_cast<double>(small) * spec.real("factor"));
       };
       return Shape{y[0], y[1], large(y[2]), large(y[3])};
     }});

}  // namespace

Operator downscale(const std::string& filter,
                   bool antialias,
                   std::pair<int64_t, int64_t> image,
                   std::pair<int64_t, int64_t> measurement,
                   at::Device device) {
  check(std::find(kFilters.begin(), kFilters.end(), filter) != kFilters.end(),
        "downscale: unknown filter \"",
        filter,
        "\"; box, bilinear, bicubic or lanczos is wanted");
  const auto matrix = [&](int64_t large, int64_t small) {
    check(
        small >= 1 && small <= large, "downscale: ", large, " pixels cannot be reduced to ", small);
    return reduction_matrix(filter, antialias, large, small).to(device);
  };
  const auto [height, width] = image;
  return std::make_shared<Separable>(matrix(height, measurement.first),
                                     matrix(width, measurement.second),
                                     [height = height, width = width](const Tensor& y) {
                                       return at::upsample_nearest2d(y, {height, width});
                                     });
}

}  // namespace eps
