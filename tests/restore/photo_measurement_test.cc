// Measurements in photographs, as cameras and editors write them.
#include "eps/io/images/picture.h"
#include "eps/restore/measurement.h"
#include "tests/exif_bytes.h"
#include "tests/files.h"

namespace eps {
namespace {

class PhotoMeasurement : public testing::Test {
 protected:
  Measurement read(const std::string& mask = "") const {
    const OperatorOptions options{.mask = mask, .spec = mask.empty() ? "identity" : ""};
    return read_measurement(
        photo_, choose_operator(options, 2), {.name = "net", .resolution = 2, .channels = 1});
  }

  const Folder folder_;
  const std::string photo_ = folder_.file("photo.png"), mask_ = folder_.file("mask.png");
};

TEST_F(PhotoMeasurement, HasAllOfSixteenBits) {
  put_bytes(photo_, png_bytes({2, 2, 16, 0, std::string("\0\0\0\0\1\0\xff\xff\x80\0", 10)}));
  const Tensor wanted = at::tensor({0, 1, 65535, 32768}, at::kFloat) / 32767.5 - 1;
  EXPECT_TRUE(identical(read().problem.y, wanted.reshape({1, 1, 2, 2}).to(at::kDouble)));
}

// A camera's picture, and a mask that was painted over it as it is shown.
TEST_F(PhotoMeasurement, StandsUprightUnderItsMask) {
  const std::string turned = png_chunk("eXIf", exif_bytes(false, {orientation_entry(6)}));
  put_bytes(photo_, png_bytes({2, 2, 8, 0, std::string("\0\1\2\0\3\4", 6), turned}));
  put_bytes(mask_, png_bytes({2, 2, 8, 0, std::string("\0\xff\0\0\xff\xff", 6)}));
  const Tensor shown = at::tensor({3, 0, 4, 2}, at::kFloat) / 127.5 - 1;
  const Tensor wanted = shown.reshape({1, 1, 2, 2}) * at::tensor({1, 0, 1, 1}).reshape({2, 2});
  EXPECT_TRUE(identical(read(mask_).problem.y, wanted.to(at::kDouble)));
}

TEST_F(PhotoMeasurement, WithTransparentPixelsIsAMask) {
  put_bytes(
      photo_,
      png_bytes({2, 2, 16, 4, std::string("\0\0\1\xff\xff\0\2\0\0\0\0\3\xff\xff\0\4\x80\0", 18)}));
  EXPECT_TRUE(read(photo_).warnings.empty());
  EXPECT_EQ(read(photo_).problem.measurements().item<double>(), 3);
  ASSERT_EQ(read().warnings.size(), 1u);
  EXPECT_NE(read().warnings[0].find("25% of its pixels are transparent"), std::string::npos);
}

// 3 grey levels and a half.
TEST_F(PhotoMeasurement, HasANoiseMapOfSixteenBits) {
  const std::string row = std::string("\0\x03\x83\x03\x83", 5);
  put_bytes(mask_, png_bytes({2, 2, 16, 0, row + row}));
  const Tensor map = deviations({.map = mask_}, at::zeros({1, 1, 2, 2}, at::kDouble), 0.05);
  EXPECT_TRUE(map.allclose(at::full({1, 1, 2, 2}, 899 / 257.0 * kGreyLevel, at::kDouble)));
}

}  // namespace
}  // namespace eps
