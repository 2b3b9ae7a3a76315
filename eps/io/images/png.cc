// The PNG decoder: libpng's low-level interface, since the simplified one changes 16-bit colours.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "eps/io/images/image.h"
#include "eps/io/images/image_codecs.h"

namespace eps {
namespace {

// A `PngReader` decodes one file. libpng reports an error by a jump back to setjmp(). The functions
// that call setjmp() therefore hold no object with a destructor; such objects are members of this
// class or locals of the caller.
class PngReader {
 public:
  PngReader(std::string_view bytes, const std::string& name) : rest_(bytes), name_(name) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  // Returns (C, H, W), without alpha.
  Tensor read() {
    const size_t size = rest_.size();
    require(read_header());
    return read_pixels(size, false);
  }

  // Returns (H, W), or an undefined tensor of a file without alpha.
  Tensor read_alpha() {
    const size_t size = rest_.size();
    require(read_header());
    const bool has_alpha = (png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) != 0 ||
                           png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    return has_alpha ? read_pixels(size, true)[-1] : Tensor();
  }

 private:
  // Returns the planes of the image in a file of `size` bytes; the last of them is alpha if wanted.
  Tensor read_pixels(size_t size, bool with_alpha) {
    const int64_t width = png_get_image_width(png_, info_);
    const int64_t height = png_get_image_height(png_, info_);
    const int64_t pixel_bits = png_get_channels(png_, info_) * png_get_bit_depth(png_, info_);
    // Deflate packs at most 1032 bytes into one.
    check_image_size(width, height, size, 8 * 1032 / pixel_bits, name_);
    require(convert_to_8_bits(with_alpha));
    const int64_t channels = png_get_channels(png_, info_);
    const Tensor pixels = at::empty({height, width, channels}, at::kByte);
    std::vector<png_bytep> rows(static_cast<size_t>(height));
    for (int64_t i = 0; i < height; ++i) {
      rows[static_cast<size_t>(i)] = pixels.data_ptr<uint8_t>() + i * width * channels;
    }
    require(read_rows(rows.data()));
    return pixels.permute({2, 0, 1}).contiguous();
  }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, this, on_read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // see check_image_size()
    // Colour profiles and texts, which may be compressed, are skipped: only the pixels matter.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    return true;
  }

  bool convert_to_8_bits(bool with_alpha) {
    if (setjmp(png_jmpbuf(png_))) return false;
    const int type = png_get_color_type(png_, info_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_scale_16(png_);
    if (with_alpha) {
      png_set_tRNS_to_alpha(png_);
    } else {
      png_set_strip_alpha(png_);
    }
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  void require(bool success) const { check(success, name_, ": cannot decode the PNG: ", message_); }

  static void on_read(png_structp png, png_bytep out, size_t count) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader->rest_.size()) png_error(png, "the file is truncated");
    std::memcpy(out, reader->rest_.data(), count);
    reader->rest_.remove_prefix(count);
  }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader->message_, message, sizeof(reader->message_) - 1);
    png_longjmp(png, 1);
  }

  // libpng warns about data that it skips or repairs without a change to the pixels.
  static void on_warning(png_structp, png_const_charp) {}

  std::string_view rest_;
  const std::string& name_;
  char message_[256] = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

Tensor decode_png(std::string_view bytes, const std::string& name) {
  return PngReader(bytes, name).read();
}

Tensor decode_png_alpha(std::string_view bytes, const std::string& name) {
  return PngReader(bytes, name).read_alpha();
}

}  // namespace eps
