// The PNG decoder: libpng's low-level interface, since the simplified one changes 16-bit colours.
#include <png.h>

#include <csetjmp>
#include <cstring>

#include "eps/io/images/image_codecs.h"
#include "eps/io/images/png_format.h"

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

  Picture read() {
    const std::string_view file = rest_;
    require(read_header());
    const int64_t width = png_get_image_width(png_, info_);
    const int64_t height = png_get_image_height(png_, info_);
    const int64_t pixel_bits = png_get_channels(png_, info_) * png_get_bit_depth(png_, info_);
    // Deflate packs at most 1032 bytes into one.
    check_image_size(width, height, file.size(), 8 * 1032 / pixel_bits, name_);
    require(convert());
    const int64_t planes = png_get_channels(png_, info_), bits = png_get_bit_depth(png_, info_);
    // (H, W, planes), the last of them alpha if their number is even.
    const Tensor pixels = at::empty({height, width, planes}, bits == 16 ? at::kShort : at::kByte);
    require(read_rows(row_pointers(pixels).data()));
    const Tensor values = bits == 16 ? pixels.to(at::kInt).bitwise_and_(0xffff) : pixels;
    const int64_t channels = planes <= 2 ? 1 : 3;
    Picture picture{.pixels = values.narrow(2, 0, channels).permute({2, 0, 1}),
                    .format = png_format(file),
                    .frames = png_frames(file)};
    picture.format.bits = bits;
    if (planes > channels) picture.alpha = values.select(2, channels);
    return picture;
  }

 private:
  static std::vector<png_bytep> row_pointers(const Tensor& pixels) {
    std::vector<png_bytep> rows(static_cast<size_t>(pixels.size(0)));
    const auto stride = static_cast<size_t>(pixels.stride(0) * pixels.element_size());
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = static_cast<png_bytep>(pixels.data_ptr()) + i * stride;
    return rows;
  }

  bool read_header() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, this, on_read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // see check_image_size()
    // Only the pixels are libpng's business; see png_format.cc.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    return true;
  }

  // Asks for 8 bits, or for 16 in the order of this machine, with alpha where there is any.
  bool convert() {
    if (setjmp(png_jmpbuf(png_))) return false;
    const int type = png_get_color_type(png_, info_);
    if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (type == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    if (png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) png_set_tRNS_to_alpha(png_);
    if (png_get_bit_depth(png_, info_) == 16) png_set_swap(png_);
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

Picture decode_png(std::string_view bytes, const std::string& name) {
  return PngReader(bytes, name).read();
}

}  // namespace eps
