// Masks, weights, kernels, coil maps and matrices from files.
#include "eps/operators/parameter_file.h"

#include <cmath>

#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/io/images/picture.h"

namespace eps {
namespace {

// Returns one two-dimensional parameter, or one for each image: (N or 1, rows, columns) on the
// image's device.
Tensor one_or_each(Tensor parameter,
                   const std::string& path,
                   const char* what,
                   const Tensor& like) {
  if (parameter.dim() == 4 && parameter.size(1) == 1) parameter = parameter.squeeze(1);
  if (parameter.dim() == 2) parameter = parameter.unsqueeze(0);
  check(parameter.dim() == 3,
        path,
        ": a ",
        what,
        " has 2 dimensions, or 3 with one for each image; got ",
        to_string(parameter.sizes()));
  check(parameter.size(0) == 1 || parameter.size(0) == like.size(0),
        path,
        ": holds ",
        parameter.size(0),
        " of a ",
        what,
        " for ",
        like.size(0),
        " images");
  return parameter.to(like.device());
}

// Returns one parameter for all images, or one for each, of their height and width.
Tensor of_image_size(const Tensor& values,
                     const std::string& path,
                     const char* what,
                     const Tensor& like) {
  const Tensor parameter = one_or_each(values, path, what, like);
  check(parameter.size(1) == like.size(2) && parameter.size(2) == like.size(3),
        path,
        ": the ",
        what,
        " has ",
        size_words(parameter.size(2), parameter.size(1)),
        ", the image ",
        like.size(3),
        " x ",
        like.size(2));
  return parameter;
}

Tensor picture_of_mask(const std::string& path) {
  const Picture picture = read_picture(path);
  if (picture.alpha.defined()) {
    const Tensor opaque = grey_levels(picture.alpha) >= 127.5;
    if (!opaque.all().item<bool>()) return opaque.to(at::kDouble);
  }
  const Tensor grey = grey_levels(picture.pixels).mean(0);
  const double between = ((grey > 32) & (grey < 223)).to(at::kDouble).mean().item<double>();
  check(between <= 0.25,
        path,
        ": a mask is black and white, ",
        std::lround(100 * between),
        "% of this picture is grey or coloured; is it a photograph?");
  return (grey >= 127.5).to(at::kDouble);
}

}  // namespace

Tensor mask_from(const Tensor& values, const std::string& name, const Tensor& like) {
  const Tensor mask = values.to(at::kDouble);
  const Tensor wrong = mask.masked_select(at::logical_and(mask != 0, mask != 1));
  if (wrong.numel() > 0)
    fail(name, ": a mask holds 0 (missing) and 1 (observed), found ", wrong[0].item<double>());
  return of_image_size(mask, name, "mask", like);
}

Tensor read_mask_file(const std::string& path, const Tensor& like) {
  if (is_array_path(path)) return mask_from(read_array(path), path, like);
  return of_image_size(picture_of_mask(path), path, "mask", like);
}

Tensor read_weights_file(const std::string& path, const Tensor& like) {
  const Tensor weights =
      is_array_path(path) ? read_array(path).to(at::kDouble) : read_grey_levels(path).mean(0) / 255;
  require_finite(weights, path);
  const Tensor wrong = weights.masked_select(at::logical_or(weights<0, weights> 1));
  if (wrong.numel() > 0) fail(path, ": weights are in [0, 1], found ", wrong[0].item<double>());
  return of_image_size(weights, path, "mask of weights", like);
}

namespace {

Tensor read_kernel(const std::string& path) {
  return is_array_path(path) ? read_array(path).to(at::kDouble) : read_grey_levels(path).mean(0);
}

}  // namespace

std::pair<int64_t, int64_t> kernel_file_size(const std::string& path) {
  const Tensor kernel = read_kernel(path);
  check(kernel.dim() >= 2,
        path,
        ": a kernel of rows x columns is wanted, got ",
        to_string(kernel.sizes()));
  return {kernel.size(-2), kernel.size(-1)};
}

Tensor kernel_from(const Tensor& values, const std::string& name, const Tensor& like) {
  const Tensor kernel = values.to(at::kDouble);
  require_finite(kernel, name);
  check(kernel.abs().sum().item<double>() > 0, name, ": the kernel is all zero");
  return one_or_each(kernel, name, "kernel", like);
}

Tensor read_kernel_file(const std::string& path, const Tensor& like) {
  const Tensor kernel = kernel_from(read_kernel(path), path, like);
  return is_array_path(path) ? kernel : kernel / kernel.sum();
}

Tensor read_stack_file(const std::string& path) {
  const Tensor stack = read_array(path).to(at::kDouble);
  require_finite(stack, path);
  check(stack.dim() == 3 && stack.numel() > 0,
        path,
        ": a stack of K x rows x columns is wanted, got ",
        to_string(stack.sizes()));
  return stack;
}

Tensor read_coils_file(const std::string& path, const Tensor& like) {
  Tensor maps = read_array(path);
  const Tensor pairs = maps.is_complex() ? at::view_as_real(maps) : maps;
  require_finite(pairs, path);
  check(pairs.dim() == 4 && pairs.size(3) == 2 && pairs.size(1) == like.size(2) &&
            pairs.size(2) == like.size(3),
        path,
        ": coil maps are K x ",
        like.size(2),
        " x ",
        like.size(3),
        " complex numbers, or pairs of numbers (K x H x W x 2); got ",
        to_string(maps.sizes()),
        maps.is_complex() ? " complex numbers" : "");
  return at::view_as_complex(pairs.to(at::kDouble).contiguous()).to(like.device());
}

Tensor read_matrix_file(const std::string& path, const Tensor& like) {
  Tensor matrix = read_array(path).to(at::kDouble);
  require_finite(matrix, path);
  matrix = one_or_each(matrix, path, "matrix", like);
  const int64_t d = like.size(1) * like.size(2) * like.size(3);
  check(matrix.size(2) == d,
        path,
        ": a matrix with ",
        matrix.size(2),
        " columns for images of ",
        to_string(like.sizes().slice(1)),
        " = ",
        d,
        " values");
  return matrix;
}

}  // namespace eps
