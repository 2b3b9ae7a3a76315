// Images in files: 8 bits in and out, and conversion to and from [-1, 1].
#include "eps/io/images/image.h"

#include "eps/io/file.h"
#include "eps/io/images/image_codecs.h"

namespace eps {
namespace {

// Returns [-1, 1] as levels from 0 to `top`, not yet truncated.
Tensor to_levels(const Tensor& image, double top, const char* name) {
  check(image.is_floating_point(), name, ": floating-point numbers are wanted");
  // Half precision cannot separate the levels after the offset.
  const Tensor x = image.to(c10::promoteTypes(image.scalar_type(), at::kFloat));
  check(!x.isnan().any().item<bool>(), name, ": the image holds values that are not a number");
  return (x * (top / 2) + (top + 1) / 2).clamp(0, top);
}

}  // namespace

Tensor parse_image(std::string_view bytes, const std::string& name) {
  const Tensor pixels = parse_picture(bytes, name).pixels;
  // 65535 is 257 times 255.
  return pixels.scalar_type() == at::kByte ? pixels
                                           : (pixels + 128).div_(257, "floor").to(at::kByte);
}

Tensor read_image(const std::string& path) { return parse_image(read_file(path), path); }

std::string encode_png(const Tensor& image, const std::string& name) {
  check(image.defined() && image.scalar_type() == at::kByte, name, ": a PNG is written from uint8");
  return encode_png_pixels(image, {}, name);
}

void write_png(const std::string& path, const Tensor& image) {
  write_file_atomically(path, encode_png(image, path));
}

std::string size_words(int64_t width, int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels (width x height)";
}

Tensor to_uint8(const Tensor& image) { return to_levels(image, 255, "to_uint8").to(at::kByte); }

Tensor to_uint16(const Tensor& image) { return to_levels(image, 65535, "to_uint16").to(at::kInt); }

Tensor from_uint8(const Tensor& image) {
  check(image.scalar_type() == at::kByte, "from_uint8: uint8 is wanted");
  return image.to(at::kFloat) / 127.5 - 1;
}

Tensor from_uint16(const Tensor& image) {
  check(image.scalar_type() == at::kInt, "from_uint16: int32 is wanted");
  return image.to(at::kFloat) / 32767.5 - 1;
}

Tensor image_grid(const Tensor& images, int64_t columns, int64_t padding) {
  check(images.dim() == 4 && images.scalar_type() == at::kByte && images.size(0) > 0,
        "image_grid: uint8 images of shape N x C x H x W are wanted, got ",
        to_string(images.sizes()));
  check(columns >= 1, "image_grid: columns must be at least 1, got ", columns);
  check(padding >= 0, "image_grid: padding must be at least 0, got ", padding);
  const int64_t count = images.size(0), height = images.size(2), width = images.size(3);
  columns = std::min(columns, count);
  const int64_t rows = (count + columns - 1) / columns;
  const Tensor grid = at::full(
      {images.size(1), rows * (height + padding) + padding, columns * (width + padding) + padding},
      255,
      images.options());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = i / columns * (height + padding) + padding;
    const int64_t left = i % columns * (width + padding) + padding;
    grid.narrow(1, top, height).narrow(2, left, width).copy_(images[i]);
  }
  return grid;
}

}  // namespace eps
