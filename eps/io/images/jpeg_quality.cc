// The quality of a JPEG: the table of ITU-T T.81, table K.1, multiplied by s(quality) percent, with
// s = 5000 / quality below 50 and 200 - 2 quality from there on, as the Independent JPEG Group does
// it.
#include "eps/io/images/jpeg_quality.h"

#include <algorithm>
#include <cstdlib>

namespace eps {
namespace {

constexpr JpegTable kLuminance = {16, 11, 10, 16, 24,  40,  51,  61,   //
                                  12, 12, 14, 19, 26,  58,  60,  55,   //
                                  14, 13, 16, 24, 40,  57,  69,  56,   //
                                  14, 17, 22, 29, 51,  87,  80,  62,   //
                                  18, 22, 37, 56, 68,  109, 103, 77,   //
                                  24, 35, 55, 64, 81,  104, 113, 92,   //
                                  49, 64, 78, 87, 103, 121, 120, 101,  //
                                  72, 92, 95, 98, 112, 100, 103, 99};

int difference(const JpegTable& table, int quality) {
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  int sum = 0;
  for (size_t i = 0; i < table.size(); ++i)
    sum += std::abs(std::clamp((kLuminance[i] * percent + 50) / 100, 1, 255) - table[i]);
  return sum;
}

}  // namespace

int estimate_jpeg_quality(const JpegTable& table) {
  int best = 100;
  for (int quality = 99; quality >= 1; --quality)
    if (difference(table, quality) < difference(table, best)) best = quality;
  return best;
}

}  // namespace eps
