// Images in files: the choice of decoder, the PNG writer, and conversion to and from [-1, 1].
#include "eps/io/images/image.h"

#include <png.h>

#include "eps/io/bytes.h"
#include "eps/io/file.h"
#include "eps/io/images/image_codecs.h"

namespace eps {

void check_image_size(
    int64_t width, int64_t height, size_t bytes, int64_t best_packing, const std::string& name) {
  check(width > 0 && height > 0 && width <= kMaxImagePixels / height,
        name,
        ": the image is ",
        width,
        " x ",
        height,
        ", at least 1 and at most ",
        kMaxImagePixels,
        " pixels are allowed");
  check(width * height / best_packing <= static_cast<int64_t>(bytes),
        name,
        ": truncated or corrupt: ",
        width,
        " x ",
        height,
        " pixels cannot come from ",
        bytes,
        " bytes");
}

Tensor parse_image(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(kPngSignature)) return decode_png(bytes, name);
  if (bytes.starts_with(kJpegSignature)) return decode_jpeg(bytes, name);
  fail(name, ": not a PNG or JPEG image (starts with ", quote_start(bytes), ")");
}

Tensor read_image(const std::string& path) { return parse_image(read_file(path), path); }

Tensor read_alpha(const std::string& path) {
  const std::string bytes = read_file(path);
  return bytes.starts_with(kPngSignature) ? decode_png_alpha(bytes, path) : Tensor();
}

std::string encode_png(const Tensor& image, const std::string& name) {
  check(image.defined() && image.scalar_type() == at::kByte, name, ": a PNG is written from uint8");
  const Tensor planes = image.dim() == 2 ? image.unsqueeze(0) : image;
  check(planes.dim() == 3 && (planes.size(0) == 1 || planes.size(0) == 3) && planes.numel() > 0,
        name,
        ": a PNG is written from 1 x H x W, 3 x H x W or H x W, got ",
        to_string(image.sizes()));
  check(planes.size(1) * planes.size(2) <= kMaxImagePixels,
        name,
        ": the image is ",
        planes.size(2),
        " x ",
        planes.size(1),
        ", at most ",
        kMaxImagePixels,
        " pixels are allowed");
  const Tensor pixels = planes.cpu().permute({1, 2, 0}).contiguous();  // (H, W, C)
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.height = static_cast<png_uint_32>(pixels.size(0));
  png.width = static_cast<png_uint_32>(pixels.size(1));
  png.format = pixels.size(2) == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  const void* source = pixels.data_ptr();
  check(png_image_write_to_memory(&png, bytes.data(), &size, 0, source, 0, nullptr) != 0,
        name,
        ": cannot encode the PNG: ",
        png.message);
  bytes.resize(size);
  return bytes;
}

void write_png(const std::string& path, const Tensor& image) {
  write_file_atomically(path, encode_png(image, path));
}

Tensor to_uint8(const Tensor& image) {
  check(image.is_floating_point(), "to_uint8: floating-point numbers are wanted");
  // Half precision cannot separate 255 levels after the offset.
  const Tensor x = image.to(c10::promoteTypes(image.scalar_type(), at::kFloat));
  check(!x.isnan().any().item<bool>(), "to_uint8: the image holds values that are not a number");
  return (x * 127.5 + 128).clamp(0, 255).to(at::kByte);
}

Tensor from_uint8(const Tensor& image) {
  check(image.scalar_type() == at::kByte, "from_uint8: uint8 is wanted");
  return image.to(at::kFloat) / 127.5 - 1;
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
