// Blur kernels: Gaussian, straight motion, or from a file; and the operators with such kernels.
#include <cmath>
#include <numbers>

#include "eps/operators/blur.h"
#include "eps/operators/border.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

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

// Returns the number of pixels on each side of a disk's kernel.
int64_t disk_size(double radius) { return 2 * static_cast<int64_t>(std::ceil(radius - 0.5)) + 1; }

// Returns disks of (N) radii, (N, size, size). The weight of a pixel is the part of its area inside
// the disk, by kPoints x kPoints points.
Tensor disks(const Tensor& radius, int64_t size) {
  constexpr int64_t kPoints = 16;
  const double step = 1.0 / kPoints;
  const Tensor place =
      (at::arange(size * kPoints, radius.options()) + 0.5) * step - static_cast<double>(size) / 2;
  const Tensor distance = place.unsqueeze(1).square() + place.square();
  const Tensor inside =
      (distance <= radius.reshape({-1, 1, 1}).square()).to(radius.scalar_type()).unsqueeze(1);
  const Tensor kernel = at::avg_pool2d(inside, kPoints).squeeze(1);
  return kernel / kernel.sum({1, 2}, true);
}

Operator blur_like(const Spec& spec, const Tensor& kernels, const Tensor& like) {
  return blur(kernels.to(like.device()), like.size(2), like.size(3), border_of(spec));
}

Operator make_gaussian(const Spec& spec, const Tensor& like, Rng& rng) {
  return blur_like(spec, gaussian_kernels(spec, like, rng), like);
}

Operator make_disk(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range radii = spec.range("radius");
  const int64_t size = disk_size(radii.high);
  check_kernel_fits(size, like.size(2), like.size(3));
  return blur_like(spec, disks(draw_or_fix(radii, like, rng), size), like);
}

// Returns the number of lengths that a motion blur draws from.
double lengths_of(const Spec& spec) {
  const Range lengths = spec.range("length");
  return std::floor((lengths.high - lengths.low) / static_cast<double>(spec.integer("step"))) + 1;
}
int64_t longest_of(const Spec& spec) {
  const auto step = static_cast<double>(spec.integer("step"));
  return std::lround(spec.range("length").low + step * (lengths_of(spec) - 1));
}

Operator make_motion(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range lengths = spec.range("length");
  check_kernel_fits(std::lround(lengths.high) / 2 * 2 + 1, like.size(2), like.size(3));
  const auto step = static_cast<double>(spec.integer("step"));
  const Range angles = spec.range("angle");
  const double choices = lengths_of(spec);
  // A single length takes a random number, too, so that the angles do not depend on the range of
  // lengths.
  const bool fixed = lengths.low == lengths.high && angles.low == angles.high;
  const Tensor pick =
      fixed ? draw_or_fix({0, 0}, like, rng) : draw_in({0, choices}, like, rng).flatten();
  const Tensor length = (lengths.low + step * pick.floor().clamp_max(choices - 1)).round();
  return blur_like(
      spec,
      motion_kernels(length, draw_or_fix(angles, like, rng).to(length.device()), longest_of(spec)),
      like);
}

Operator make_kernel(const Spec& spec, const Tensor& like, Rng&) {
  return blur_like(spec, read_kernel_file(spec.text("file"), like), like);
}

// Returns `image_shape` of a blur whose kernel has this height and width: the image of a valid
// measurement is larger.
using KernelSize = std::function<std::pair<int64_t, int64_t>(const Spec& spec)>;
std::function<Shape(const Spec& spec, const Shape& y)> frame_of(KernelSize size) {
  return [size = std::move(size)](const Spec& spec, const Shape& y) {
    check(y.size() == 4, spec.name(), ": a measurement is N x C x H x W, got ", to_string(y));
    if (border_of(spec) != Border::valid) return y;
    const auto [height, width] = size(spec);
    return Shape{y[0], y[1], y[2] + height - 1, y[3] + width - 1};
  };
}
std::pair<int64_t, int64_t> square(int64_t side) { return {side, side}; }

EPS_OPERATOR({.name = "blur_gaussian",
              .summary = "blur with a Gaussian kernel",
              .example = "blur_gaussian:std=0.75,size=7",
              .fields = {Field::range("std",
                                      "0.75",
                                      at_least(1e-3),
                                      "standard deviation in pixels; a..b draws one per image"),
                         Field::integer("size", "11", at_least(1), "kernel size in pixels"),
                         border_field()},
              .strengths = {"std"},
              .make = make_gaussian,
              .kind = "gaussian_blur",
              .image_shape = frame_of([](const Spec& spec) {
                return square(spec.integer("size"));
              }),
              .is_random = random_ranges({"std"})});

EPS_OPERATOR({.name = "blur_disk",
              .summary = "blur with a disk: a lens out of focus",
              .example = "blur_disk:radius=1.5",
              .fields = {Field::range("radius",
                                      "2",
                                      {0.5, 1e4},
                                      "radius in pixels; a..b draws one per image"),
                         border_field()},
              .strengths = {"radius"},
              .make = make_disk,
              .kind = "motion_blur",
              .image_shape = frame_of([](const Spec& spec) {
                return square(disk_size(spec.range("radius").high));
              }),
              .is_random = random_ranges({"radius"})});

EPS_OPERATOR(
    {.name = "blur_motion",
     .summary = "blur along a straight line",
     .example = "blur_motion:length=5,angle=30",
     .fields =
         {Field::range("length", "15", {1, 1e6}, "pixels; a..b draws one per image"),
          Field::integer("step", "1", at_least(1), "spacing of the lengths that a..b draws from"),
          Field::range(
              "angle", "0", {-360, 360}, "degrees, counter-clockwise; a..b draws one per image"),
          border_field()},
     .strengths = {"length"},
     .make = make_motion,
     .kind = "motion_blur",
     .image_shape = frame_of([](const Spec& spec) { return square(longest_of(spec) / 2 * 2 + 1); }),
     .is_random = random_ranges({"length", "angle"})});

EPS_OPERATOR(
    {.name = "blur_kernel",
     .summary = "blur with a kernel from a file, its origin at index size/2",
     .example = "",
     .fields = {{"file", "", ".npy or .safetensors (unscaled), PNG or JPEG (divided by its sum)"},
                border_field()},
     .make = make_kernel,
     .kind = "motion_blur",
     .image_shape = frame_of([](const Spec& spec) {
       return kernel_file_size(spec.text("file"));
     })});

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

Tensor disk_kernel(double radius) {
  check(radius >= 0.5, "disk_kernel: radius must be at least 0.5, got ", radius);
  return disks(at::full({1}, radius, at::kDouble), disk_size(radius)).squeeze(0);
}

Tensor gaussian_kernels(const Spec& spec, const Tensor& like, Rng& rng) {
  const Range stds = spec.range("std");
  const int64_t size = spec.integer("size");
  check_kernel_fits(size, like.size(2), like.size(3));
  return gaussians(draw_or_fix(stds, like, rng), size);
}

}  // namespace eps
