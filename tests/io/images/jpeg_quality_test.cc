// The estimated quality of JPEGs: those of libjpeg, and tables that are not its own.
#include "eps/io/images/jpeg_quality.h"

#include "eps/base/random.h"
#include "eps/io/images/picture.h"
#include "tests/files.h"
#include "tests/image_bytes.h"
#include "tests/jpeg_file.h"

namespace eps {
namespace {

TEST(JpegQuality, OfAFileOfLibjpegIsThatOfItsEncoder) {
  for (const int64_t channels : {1, 3})
    for (const bool is_progressive : {false, true}) {
      const Tensor image = Rng(1).uniform({channels, 16, 16}).mul(255).to(at::kByte);
      for (int quality = 1; quality <= 100; ++quality) {
        const std::string bytes =
            encode_jpeg(image, {.quality = quality, .is_progressive = is_progressive});
        EXPECT_EQ(parse_picture(bytes, "a").jpeg_quality, quality);
      }
    }
}

TEST(JpegQuality, OfOtherTablesIsThatOfTheNearest) {
  JpegTable table;
  table.fill(1);
  EXPECT_EQ(estimate_jpeg_quality(table), 100);
  table.fill(65535);
  EXPECT_EQ(estimate_jpeg_quality(table), 1);
  // The sum of |s t - 8| over the entries t of table K.1 is least where s is the median of 8 / t
  // with weights t: entries from 81 on have half of the sum 3688, and 8 / 81 is 9.9% = 200% - 2 *
  // 95%.
  table.fill(8);
  EXPECT_EQ(estimate_jpeg_quality(table), 95);
}

TEST(JpegQuality, IsThatOfNoPng) {
  const std::string png = png_bytes({1, 1, 8, 0, std::string("\0\5", 2)});
  EXPECT_FALSE(parse_picture(png, "a").jpeg_quality.has_value());
}

}  // namespace
}  // namespace eps
