// eps restore with photographs: what its pictures keep of the measurement's file.
#include <fmt/format.h>

#include "eps/io/images/picture.h"
#include "tests/cli/restore_program.h"
#include "tests/exif_bytes.h"
#include "tests/jpeg_file.h"

namespace eps {
namespace {

class RestorePhotos : public RestoreProgram {
 protected:
  PictureFormat format(const std::string& name) const {
    return read_picture(out_ + "/" + name + ".png").format;
  }
  // The pictures that are of the measurement's kind, and those that are drawn.
  const std::vector<std::string> kept_ =
                                     {"sample-1", "sample-2", "mean", "low", "high", "measurement"},
                                 drawn_ = {"deviation", "sheet"};
};

TEST_F(RestorePhotos, KeepWhatAPngOfSixteenBitsSaysOfThem) {
  const PictureFormat wanted{.bits = 16,
                             .icc_profile = icc_bytes("RGB "),
                             .icc_name = "Display P3",
                             .exif = exif_bytes(true, {orientation_entry(1)}),
                             .colour_chunks = {{"gAMA", big_endian(45455, 4)}}};
  const std::string photo = folder_.file("photo.png");
  write_picture(photo, read_npy(image_), wanted);
  const Outcome outcome = run(photo + " --operator identity --noise 6.4");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const auto& name : kept_) EXPECT_EQ(format(name), wanted) << name;
  for (const auto& name : drawn_) EXPECT_EQ(format(name), PictureFormat{}) << name;
  const Tensor sample = to_uint16(array("samples")[0]),
               written = read_picture(out_ + "/sample-1.png").pixels;
  EXPECT_LE((written - sample).abs().max().item<int>(), 1);  // the array has float32
  const Tensor y = from_uint16(to_uint16(read_npy(image_)));
  EXPECT_TRUE(identical(array("measurement"), y));
}

TEST_F(RestorePhotos, OfAPhoneStandUpright) {
  const Tensor stored = to_uint8(read_npy(image_));
  const std::string photo = folder_.file("photo.jpg"),
                    exif = exif_with_thumbnail(false, "thumbnail");
  put_bytes(photo, encode_jpeg(stored, {.segments = {{1, std::string("Exif\0\0", 6) + exif}}}));
  const Outcome outcome = run(photo + " --operator identity --noise 6.4");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const auto& name : kept_) {
    EXPECT_TRUE(format(name).exif.starts_with(exif_bytes(false, {orientation_entry(1)}))) << name;
    EXPECT_EQ(format(name).bits, 8);
  }
  for (const auto& name : drawn_) EXPECT_EQ(format(name).exif, "") << name;
  // Orientation 6: row 0 of the file is the right side. JPEG's colours are off by a level or two.
  const Tensor shown = stored.transpose(1, 2).flip({2}).to(at::kInt);
  const Tensor found = read_image(out_ + "/measurement.png").to(at::kInt);
  EXPECT_LE((found - shown).abs().max().item<int>(), 3);
}

TEST_F(RestorePhotos, AreWarnedOfWhereTheyAreCoarseJpegs) {
  const std::string photo = folder_.file("photo.jpg");
  const auto warning_of = [&](int quality, const std::string& rest) {
    put_bytes(photo, encode_jpeg(to_uint8(read_npy(image_)), {.quality = quality}));
    const Outcome outcome = run(photo + " --operator identity --noise 6.4" + rest);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    remove_tree(out_);
    const size_t begin = outcome.output.find("a JPEG of quality");
    return begin == std::string::npos ? "" : outcome.output.substr(begin, 20);
  };
  for (const int quality : {30, 75, 91})
    EXPECT_EQ(warning_of(quality, ""), fmt::format("a JPEG of quality {}", quality));
  EXPECT_EQ(warning_of(92, ""), "");
  // A clean image has whatever pixels it has.
  EXPECT_EQ(warning_of(75, " --simulate"), "");
}

TEST_F(RestorePhotos, ThatAreGreyKeepAProfileOfGrey) {
  const PictureFormat grey{
      .icc_profile = icc_bytes("GRAY"), .icc_name = "Dot gain", .colour_chunks = {}};
  const std::string photo = folder_.file("photo.png");
  write_picture(photo, read_npy(grey_), grey);
  const Outcome outcome = run(photo + " --operator identity --noise 6.4");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const auto& name : kept_) EXPECT_EQ(format(name), grey) << name;
}

}  // namespace
}  // namespace eps
