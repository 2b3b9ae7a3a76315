// Blur kernels: Gaussian, straight motion, or from a file; and the operators with such kernels.
#include <cmath>
#include <numbers>

#include "eps/operators/blur.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

// Refuses a kernel larger than the image, before memory is taken for a kernel of any size.
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

// Returns one number in the range for each image, or one for all if the range is a single number:
// (N or 1). The kernels are made on the device of the numbers, so a GPU needs no copy.
Tensor draw_or_fix(const Range& range, const Tensor& like, Rng& rng) {
  if (range.low == range.high) return at::full({1}, range.low, like.options().dtype(at::kDouble));
  return draw_in(range, like, rng).flatten();
}

// Returns lines of lengths (N or 1) and angles (N or 1) as motion_kernel() describes them, on a
// canvas for the longest: (N or 1, k, k). Each point is the product of a tent over rows and one
// over columns.
Tensor motion_kernels(const Tensor& length, const Tensor& angle, int64_t longest) {
  const auto reach = static_cast<double>(longest / 2);
  const Tensor index = at::arange(longest, length.options());
  const Tensor along = index - (length.unsqueeze(1) - 1) / 2;  // (N, points)
  const Tensor radians = angle.unsqueeze(1) * (std::numbers::pi / 180);
  const Tensor pixel = at::arange(2 * (longest / 2) + 1, length.options());
  const auto tent = [&](const Tensor& place) {  // (N, points, k)
    return (1 - (place.unsqueeze(2) - pixel).abs()).clamp_min(0);
  };
  const Tensor inside = (index < length.unsqueeze(1)).to(length.scalar_type()).unsqueeze(2);
  const Tensor rows = tent(reach - along * radians.sin()) * inside;  // rows run downwards
  const Tensor columns = tent(reach + along * radians.cos());
  const Tensor kernel = at::matmul(rows.transpose(1, 2), columns);
  return kernel / kernel.sum({1, 2}, true);
}

// Returns kernels (N, size, size) of (N) standard deviations.
Tensor gaussians(const Tensor& std, int64_t size) {
  const Tensor offset = at::arange(size, std.options()) - static_cast<double>(size / 2);
  const Tensor line = (-0.5 * (offset / std.unsqueeze(1)).square()).exp();
  const Tensor kernel = line.unsqueeze(2) * line.unsqueeze(1);
  return kernel / kernel.sum({1, 2}, true);
}

Operator blur_like(const Tensor& kernels, const Tensor& like) {
  return circular_blur(kernels.to(like.device()), like.size(2), like.size(3));
}

Operator make_gaussian(const Spec& spec, const Tensor& like, Rng& rng) {
  return blur_like(gaussian_kernels(spec, like, rng), like);
}

Operator make_motion(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range lengths = spec.range("length");
  check_fits(std::lround(lengths.high) / 2 * 2 + 1, like);
  const auto step = static_cast<double>(spec.integer("step"));
  const Range angles = spec.range("angle");
  const double choices = std::floor((lengths.high - lengths.low) / step) + 1;
  const double longest = std::round(lengths.low + step * (choices - 1));
  // A single length takes a random number, too, so that the angles do not depend on the range of
  // lengths.
  const bool fixed = lengths.low == lengths.high && angles.low == angles.high;
  const Tensor pick =
      fixed ? draw_or_fix({0, 0}, like, rng) : draw_in({0, choices}, like, rng).flatten();
  const Tensor length = (lengths.low + step * pick.floor().clamp_max(choices - 1)).round();
  return blur_like(motion_kernels(length,
                                  draw_or_fix(angles, like, rng).to(length.device()),
                                  static_cast<int64_t>(longest)),
                   like);
}

Operator make_kernel(const Spec& spec, const Tensor& like, Rng&) {
  return blur_like(read_kernel_file(spec.text("file"), like), like);
}

EPS_OPERATOR({.name = "blur_gaussian",
              .summary = "circular blur with a Gaussian kernel",
              .example = "blur_gaussian:std=0.75,size=7",
              .fields = {Field::range("std",
                                      "0.75",
                                      at_least(1e-3),
                                      "standard deviation in pixels; a..b draws one per image"),
                         Field::integer("size", "11", at_least(1), "kernel size in pixels")},
              .strengths = {"std"},
              .make = make_gaussian,
              .is_random = random_ranges({"std"})});

EPS_OPERATOR(
    {.name = "blur_motion",
     .summary = "circular blur along a straight line",
     .example = "blur_motion:length=5,angle=30",
     .fields =
         {Field::range("length", "15", {1, 1e6}, "pixels; a..b draws one per image"),
          Field::integer("step", "1", at_least(1), "spacing of the lengths that a..b draws from"),
          Field::range(
              "angle", "0", {-360, 360}, "degrees, counter-clockwise; a..b draws one per image")},
     .strengths = {"length"},
     .make = make_motion,
     .is_random = random_ranges({"length", "angle"})});

EPS_OPERATOR(
    {.name = "blur_kernel",
     .summary = "circular blur with a kernel from a file, its origin at index size/2",
     .example = "",
     .fields = {{"file", "", ".npy or .safetensors (unscaled), PNG or JPEG (divided by its sum)"}},
     .make = make_kernel});

}  // namespace

Tensor gaussian_kernel(double std, int64_t size) {
  check(std > 0, "gaussian_kernel: std must be > 0, got ", std);
  check(size >= 1, "gaussian_kernel: size must be at least 1, got ", size);
  return gaussians(at::full({1}, std, at::kDouble), size).squeeze(0);
}

Tensor motion_kernel(int64_t length, double angle) {
  check(length >= 1, "motion_kernel: length must be at least 1, got ", length);
  return motion_kernels(
             at::full({1}, length, at::kDouble), at::full({1}, angle, at::kDouble), length)
      .squeeze(0);
}

Tensor gaussian_kernels(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range stds = spec.range("std");
  const int64_t size = spec.integer("size");
  check_fits(size, like);
  return gaussians(draw_or_fix(stds, like, rng), size);
}

}  // namespace eps
