// JPEG files as libjpeg encodes them.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct JpegFile {
  int quality = 100;  // of the Independent JPEG Group's tables
  bool is_progressive = false;
  int restart_interval = 0;                                // in blocks; 0: no restart markers
  std::vector<std::pair<int, std::string>> segments = {};  // APPn: n and content
};

// Encodes uint8 (C, H, W), C = 1 or 3, without subsampling.
std::string encode_jpeg(const Tensor& image, const JpegFile& file = {});

// Returns the contents of APP2 segments that hold the parts of an ICC profile.
std::vector<std::pair<int, std::string>> icc_segments(const std::vector<std::string>& parts);

}  // namespace eps
