// Pictures in files: the choice of decoder, and pixels upright.
#include "eps/io/images/picture.h"

#include "eps/io/bytes.h"
#include "eps/io/file.h"
#include "eps/io/images/exif.h"
#include "eps/io/images/image.h"
#include "eps/io/images/image_codecs.h"

namespace eps {
namespace {

Picture decode(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(kPngSignature)) return decode_png(bytes, name);
  if (bytes.starts_with(kJpegSignature)) return decode_jpeg(bytes, name);
  fail(name, ": not a PNG or JPEG image (starts with ", quote_start(bytes), ")");
}

}  // namespace

void check_image_size(
    int64_t width, int64_t height, size_t bytes, int64_t best_packing, const std::string& name) {
  check(width > 0 && height > 0 && width <= kMaxImagePixels / height,
        name,
        ": the image is ",
        size_words(width, height),
        ", at least 1 and at most ",
        kMaxImagePixels,
        " pixels are allowed");
  check(width * height / best_packing <= static_cast<int64_t>(bytes),
        name,
        ": truncated or corrupt: ",
        size_words(width, height),
        " cannot come from ",
        bytes,
        " bytes");
}

Picture parse_picture(std::string_view bytes, const std::string& name) {
  Picture picture = decode(bytes, name);
  const Exif exif = parse_exif(picture.format.exif).value_or(Exif{});
  picture.format.exif = exif.upright;
  picture.pixels = upright(picture.pixels, exif.orientation);
  if (picture.alpha.defined()) picture.alpha = upright(picture.alpha, exif.orientation);
  return picture;
}

Picture read_picture(const std::string& path) { return parse_picture(read_file(path), path); }

Tensor Picture::values() const {
  return pixels.scalar_type() == at::kByte ? from_uint8(pixels) : from_uint16(pixels);
}

Tensor grey_levels(const Tensor& pixels) {
  const Tensor levels = pixels.to(at::kDouble);
  return pixels.scalar_type() == at::kByte ? levels : levels / 257;
}

Tensor read_grey_levels(const std::string& path) { return grey_levels(read_picture(path).pixels); }

std::string encode_picture(const Tensor& image,
                           const PictureFormat& format,
                           const std::string& name) {
  return encode_png_pixels(format.bits == 16 ? to_uint16(image) : to_uint8(image), format, name);
}

void write_picture(const std::string& path, const Tensor& image, const PictureFormat& format) {
  write_file_atomically(path, encode_picture(image, format, path));
}

}  // namespace eps
