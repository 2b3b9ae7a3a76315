// The JPEG decoder: libjpeg, with limits on the time and memory of hostile files.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
// jpeglib.h needs FILE, and jerror.h needs jpeglib.h.
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include "eps/io/images/exif.h"
#include "eps/io/images/icc_profile.h"
#include "eps/io/images/image_codecs.h"
#include "eps/io/images/jpeg_quality.h"

namespace eps {
namespace {

// Cameras and encoders write at most a dozen scans; each passes over the whole image.
constexpr int kMaxScans = 64;
constexpr int kExifMarker = JPEG_APP0 + 1, kIccMarker = JPEG_APP0 + 2;
constexpr unsigned int kLargestSegment = 0xffff;

// A `JpegReader` decodes one file. libjpeg reports an error by a jump back to setjmp(), as libpng
// does; see png.cc.
class JpegReader {
 public:
  JpegReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    progress_.progress_monitor = on_progress;
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }

  Picture read() {
    const bool has_header = read_header();
    // 0: the file ended before it said so.
    check(jpeg_.data_precision == 8 || jpeg_.data_precision == 0,
          name_,
          ": the JPEG has ",
          jpeg_.data_precision,
          " bits of each colour, 8 are wanted: save it as a PNG of 16 bits");
    require(has_header);
    check(!jpeg_.arith_code,
          name_,
          ": arithmetic-coded JPEG is not read, only Huffman-coded: save it again, or as a PNG");
    check(jpeg_.num_components == 1 || jpeg_.num_components == 3,
          name_,
          ": the JPEG has ",
          jpeg_.num_components,
          " colour components (CMYK?), 1 or 3 are wanted: save it as RGB first, or as a PNG");
    const int64_t width = jpeg_.image_width, height = jpeg_.image_height;
    // A block of 64 pixels takes at least one bit, and one component has at least a quarter of the
    // pixels.
    check_image_size(width, height, bytes_.size(), 4 * 8 * 64, name_);
    const int64_t channels = jpeg_.num_components;
    Picture picture{.format = read_format(), .jpeg_quality = quality()};
    const Tensor pixels = at::empty({height, width, channels}, at::kByte);
    require(read_rows(pixels.data_ptr<uint8_t>(), width * channels));
    picture.pixels = pixels.permute({2, 0, 1});
    return picture;
  }

 private:
  bool read_header() {
    if (setjmp(on_failure_)) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    for (const int marker : {kExifMarker, kIccMarker})
      jpeg_save_markers(&jpeg_, marker, kLargestSegment);
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  // Returns the first EXIF record and the profile, which may lie in several segments.
  PictureFormat read_format() const {
    using namespace std::string_view_literals;
    PictureFormat format{.colour_chunks = {}};
    std::vector<std::string_view> icc_segments;
    for (auto* marker = jpeg_.marker_list; marker; marker = marker->next) {
      const std::string_view segment(reinterpret_cast<const char*>(marker->data),
                                     marker->data_length);
      const auto content_of = [&](int wanted, std::string_view head) {
        const bool is_wanted = marker->marker == wanted && segment.starts_with(head);
        return is_wanted ? segment.substr(head.size()) : std::string_view();
      };
      const auto exif = content_of(kExifMarker, "Exif\0\0"sv);
      if (format.exif.empty()) format.exif = exif;
      const auto icc = content_of(kIccMarker, "ICC_PROFILE\0"sv);
      if (!icc.empty()) icc_segments.push_back(icc);
    }
    format.icc_profile = join_icc_profile(icc_segments);
    if (!format.icc_profile.empty()) format.icc_name = kIccName;
    return format;
  }

  // Returns the quality of the first component, luminance; none where its table is missing, as it
  // may be until the pixels are read.
  std::optional<int> quality() const {
    const int number = jpeg_.comp_info[0].quant_tbl_no;
    if (number < 0 || number >= NUM_QUANT_TBLS || !jpeg_.quant_tbl_ptrs[number]) return {};
    JpegTable table;
    std::copy_n(jpeg_.quant_tbl_ptrs[number]->quantval, table.size(), table.begin());
    return estimate_jpeg_quality(table);
  }

  bool read_rows(uint8_t* pixels, int64_t stride) {
    if (setjmp(on_failure_)) return false;
    jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    while (jpeg_.output_scanline < jpeg_.output_height) {
      JSAMPROW row = pixels + jpeg_.output_scanline * stride;
      jpeg_read_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

  void require(bool success) const {
    check(success, name_, ": cannot decode the JPEG: ", message_);
  }

  [[noreturn]] static void on_error(j_common_ptr jpeg) {
    auto* reader = static_cast<JpegReader*>(jpeg->client_data);
    jpeg->err->format_message(jpeg, reader->message_);
    std::longjmp(reader->on_failure_, 1);
  }

  // Turns warnings into errors: libjpeg warns, and invents pixels, where a file is truncated or
  // corrupt. Stray bytes between two markers, which some cameras leave, change no pixel.
  static void on_message(j_common_ptr jpeg, int level) {
    if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) on_error(jpeg);
  }

  static void on_progress(j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
    auto* reader = static_cast<JpegReader*>(jpeg->client_data);
    std::snprintf(reader->message_, sizeof(reader->message_), "more than %d scans", kMaxScans);
    std::longjmp(reader->on_failure_, 1);
  }

  std::string_view bytes_;
  const std::string& name_;
  char message_[JMSG_LENGTH_MAX] = {};
  std::jmp_buf on_failure_;
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct jpeg_{};
};

}  // namespace

Picture decode_jpeg(std::string_view bytes, const std::string& name) {
  return JpegReader(bytes, name).read();
}

}  // namespace eps
