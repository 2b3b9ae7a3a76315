// Blur kernels: Gaussian, straight motion, or from a file; and the operators made of them.
#include <cmath>
#include <numbers>

#include "eps/operators.h"
#include "eps/operators/blur.h"
#include "eps/operators/parameter_file.h"
#include "eps/task.h"

namespace eps {
namespace {

// Before a kernel is made: it could be of any size.
void check_fits(int64_t size, const Tensor& like) {
  check(size <= like.size(2) && size <= like.size(3),
        "blur: a kernel of ",
        size,
        " x ",
        size,
        " does not fit an image of ",
        like.size(2),
        " x ",
        like.size(3),
        " pixels");
}

// Kernels of different odd sizes, centred on one canvas: (N, k, k).
Tensor centred_together(const std::vector<Tensor>& kernels) {
  int64_t size = 0;
  for (const Tensor& kernel : kernels) size = std::max(size, kernel.size(0));
  std::vector<Tensor> padded;
  for (const Tensor& kernel : kernels) {
    const int64_t margin = (size - kernel.size(0)) / 2;
    padded.push_back(at::constant_pad_nd(kernel, {margin, margin, margin, margin}));
  }
  return at::stack(padded);
}

Operator blur_like(const Tensor& kernels, const Tensor& like) {
  return circular_blur(kernels.to(like.device()), like.size(2), like.size(3));
}

Operator make_gaussian(const Spec& spec, const Tensor& like, Rng& rng) {
  return blur_like(gaussian_kernels(spec, like, rng), like);
}

Operator make_motion(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range lengths = spec.range("length", 1, 1e6);
  check_fits(std::lround(lengths.high) / 2 * 2 + 1, like);
  const auto step = static_cast<double>(spec.integer("step", 1, 1000000));
  const Range angles = spec.range("angle", -360, 360);
  if (lengths.low == lengths.high && angles.low == angles.high)
    return blur_like(motion_kernel(std::lround(lengths.low), angles.low).unsqueeze(0), like);
  const double choices = std::floor((lengths.high - lengths.low) / step) + 1;
  const Tensor pick = draw_in({0, choices}, like, rng).flatten();
  const Tensor angle = draw_in(angles, like, rng).flatten();
  std::vector<Tensor> kernels;
  for (int64_t n = 0; n < like.size(0); ++n) {
    const double length = lengths.low + step * std::floor(pick[n].item<double>());
    kernels.push_back(motion_kernel(std::lround(length), angle[n].item<double>()));
  }
  return blur_like(centred_together(kernels), like);
}

Operator make_kernel(const Spec& spec, const Tensor& like, Rng&) {
  return blur_like(read_kernel_file(spec.text("file"), like), like);
}

EPS_OPERATOR({.name = "blur_gaussian",
              .summary = "circular blur with a Gaussian kernel",
              .example = "blur_gaussian:std=0.75,size=7",
              .fields = {{"std", "0.75", "standard deviation in pixels; a..b draws one per image"},
                         {"size", "11", "kernel size in pixels"}},
              .make = make_gaussian});

EPS_OPERATOR({.name = "blur_motion",
              .summary = "circular blur along a straight line",
              .example = "blur_motion:length=5,angle=30",
              .fields = {{"length", "15", "pixels; a..b draws one per image"},
                         {"step", "1", "between the lengths that a..b draws from"},
                         {"angle", "0", "degrees, counter-clockwise; a..b draws one per image"}},
              .make = make_motion});

EPS_OPERATOR(
    {.name = "blur_kernel",
     .summary = "circular blur with a kernel from a file, its origin at index size/2",
     .example = "",
     .fields = {{"file", "", ".npy or .safetensors (as it is), PNG or JPEG (divided by its sum)"}},
     .make = make_kernel});

}  // namespace

Tensor gaussian_kernel(double std, int64_t size) {
  check(std > 0, "gaussian_kernel: std must be > 0, got ", std);
  check(size >= 1, "gaussian_kernel: size must be at least 1, got ", size);
  const Tensor offset = at::arange(size, at::kDouble) - static_cast<double>(size / 2);
  const Tensor line = (-0.5 * (offset / std).square()).exp();
  const Tensor kernel = at::outer(line, line);
  return kernel / kernel.sum();
}

Tensor motion_kernel(int64_t length, double angle) {
  check(length >= 1, "motion_kernel: length must be at least 1, got ", length);
  const int64_t reach =
      length / 2;  // ceil((length - 1) / 2): the outermost point, rounded outwards
  Tensor kernel = at::zeros({2 * reach + 1, 2 * reach + 1}, at::kDouble);
  auto pixel = kernel.accessor<double, 2>();
  const double radians = angle * std::numbers::pi / 180;
  for (int64_t i = 0; i < length; ++i) {
    const double along = static_cast<double>(i) - static_cast<double>(length - 1) / 2;
    const double row =
        static_cast<double>(reach) - along * std::sin(radians);  // rows run downwards
    const double column = static_cast<double>(reach) + along * std::cos(radians);
    const auto top = static_cast<int64_t>(std::floor(row)),
               left = static_cast<int64_t>(std::floor(column));
    for (int64_t r = std::max<int64_t>(top, 0); r <= std::min(top + 1, 2 * reach); ++r)
      for (int64_t c = std::max<int64_t>(left, 0); c <= std::min(left + 1, 2 * reach); ++c)
        pixel[r][c] += (1 - std::abs(row - static_cast<double>(r))) *
                       (1 - std::abs(column - static_cast<double>(c)));
  }
  return kernel / kernel.sum();
}

Tensor gaussian_kernels(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range stds = spec.range("std", 1e-3, 1e6);
  const int64_t size = spec.integer("size", 1, 1 << 20);
  check_fits(size, like);
  if (stds.low == stds.high) return gaussian_kernel(stds.low, size).unsqueeze(0);
  const Tensor std = draw_in(stds, like, rng).flatten();
  std::vector<Tensor> kernels;
  for (int64_t n = 0; n < like.size(0); ++n)
    kernels.push_back(gaussian_kernel(std[n].item<double>(), size));
  return at::stack(kernels);
}

}  // namespace eps
