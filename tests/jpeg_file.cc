// JPEG files as libjpeg encodes them; its default is to exit on errors, which fails a test.
#include "tests/jpeg_file.h"

#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <cstdlib>

namespace eps {

std::string encode_jpeg(const Tensor& image, const JpegFile& file) {
  const Tensor pixels = image.permute({1, 2, 0}).contiguous();
  jpeg_error_mgr errors{};
  jpeg_compress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_height = static_cast<JDIMENSION>(pixels.size(0));
  jpeg.image_width = static_cast<JDIMENSION>(pixels.size(1));
  jpeg.input_components = static_cast<int>(pixels.size(2));
  jpeg.in_color_space = pixels.size(2) == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, file.quality, TRUE);
  for (int i = 0; i < jpeg.num_components; ++i)
    jpeg.comp_info[i].h_samp_factor = jpeg.comp_info[i].v_samp_factor = 1;
  if (file.is_progressive) jpeg_simple_progression(&jpeg);
  jpeg.restart_interval = static_cast<unsigned int>(file.restart_interval);
  jpeg_start_compress(&jpeg, TRUE);
  for (const auto& [marker, content] : file.segments)
    jpeg_write_marker(&jpeg,
                      JPEG_APP0 + marker,
                      reinterpret_cast<const JOCTET*>(content.data()),
                      static_cast<unsigned int>(content.size()));
  for (int64_t row = 0; row < pixels.size(0); ++row) {
    JSAMPROW samples = pixels.data_ptr<uint8_t>() + row * pixels.stride(0);
    jpeg_write_scanlines(&jpeg, &samples, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string bytes(reinterpret_cast<const char*>(memory), size);
  std::free(memory);
  return bytes;
}

std::vector<std::pair<int, std::string>> icc_segments(const std::vector<std::string>& parts) {
  std::vector<std::pair<int, std::string>> segments;
  for (size_t i = 0; i < parts.size(); ++i)
    segments.emplace_back(2,
                          std::string("ICC_PROFILE\0", 12) + static_cast<char>(i + 1) +
                              static_cast<char>(parts.size()) + parts[i]);
  return segments;
}

}  // namespace eps
