// The PNG encoder: libpng's low-level interface, since the simplified one takes 16 bits for light.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "eps/io/images/image.h"
#include "eps/io/images/image_codecs.h"
#include "eps/io/images/png_format.h"

namespace eps {
namespace {

using Chunks = std::vector<std::pair<std::string, std::string>>;

// A `PngWriter` encodes one picture. libpng reports an error by a jump back to setjmp(); see
// png.cc.
class PngWriter {
 public:
  PngWriter(const std::string& name, bool quick) : name_(name), quick_(quick) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_write_struct(&png_, nullptr);
      throw std::bad_alloc();
    }
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  // Takes (H, W, C) of 1 or 2 bytes, in the order of this machine.
  std::string write(const Tensor& pixels, const Chunks& chunks) {
    require(write_header(pixels, chunks));
    require(write_rows(pixels));
    return std::move(bytes_);
  }

 private:
  bool write_header(const Tensor& pixels, const Chunks& chunks) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_write_fn(png_, this, on_write, nullptr);
    if (quick_) {
      png_set_compression_level(png_, 1);
      png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    }
    png_set_IHDR(png_,
                 info_,
                 static_cast<png_uint_32>(pixels.size(1)),
                 static_cast<png_uint_32>(pixels.size(0)),
                 static_cast<int>(8 * pixels.element_size()),
                 pixels.size(2) == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (const auto& [type, content] : chunks)
      png_write_chunk(png_,
                      reinterpret_cast<png_const_bytep>(type.data()),
                      reinterpret_cast<png_const_bytep>(content.data()),
                      content.size());
    return true;
  }

  bool write_rows(const Tensor& pixels) {
    if (setjmp(png_jmpbuf(png_))) return false;
    if (pixels.element_size() == 2) png_set_swap(png_);
    const int64_t stride = pixels.stride(0) * pixels.element_size();
    for (int64_t i = 0; i < pixels.size(0); ++i)
      png_write_row(png_, static_cast<png_const_bytep>(pixels.data_ptr()) + i * stride);
    png_write_end(png_, info_);
    return true;
  }

  void require(bool success) const { check(success, name_, ": cannot encode the PNG: ", message_); }

  static void on_write(png_structp png, png_bytep data, size_t count) {
    auto* writer = static_cast<PngWriter*>(png_get_io_ptr(png));
    if (!writer->append({reinterpret_cast<const char*>(data), count}))
      png_error(png, "out of memory");
  }

  // Returns whether there was memory: no exception may pass through libpng.
  bool append(std::string_view data) noexcept {
    try {
      bytes_ += data;
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* writer = static_cast<PngWriter*>(png_get_error_ptr(png));
    std::strncpy(writer->message_, message, sizeof(writer->message_) - 1);
    png_longjmp(png, 1);
  }

  static void on_warning(png_structp, png_const_charp) {}

  const std::string& name_;
  const bool quick_;
  std::string bytes_;
  char message_[256] = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

std::string encode_png_pixels(const Tensor& image,
                              const PictureFormat& format,
                              const std::string& name,
                              bool quick) {
  const Tensor planes = image.dim() == 2 ? image.unsqueeze(0) : image;
  check(planes.dim() == 3 && (planes.size(0) == 1 || planes.size(0) == 3) && planes.numel() > 0,
        name,
        ": a PNG is written from 1 x H x W, 3 x H x W or H x W, got ",
        to_string(image.sizes()));
  check(planes.size(1) * planes.size(2) <= kMaxImagePixels,
        name,
        ": the image is ",
        size_words(planes.size(2), planes.size(1)),
        ", at most ",
        kMaxImagePixels,
        " pixels are allowed");
  const bool is_deep = image.scalar_type() != at::kByte;
  const Tensor pixels =
      planes.cpu().permute({1, 2, 0}).to(is_deep ? at::kShort : at::kByte).contiguous();
  return PngWriter(name, quick).write(pixels, png_chunks_of(format, pixels.size(2)));
}

}  // namespace eps
