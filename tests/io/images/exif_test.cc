// EXIF records: each orientation in either byte order, and records that count as absent.
#include "eps/io/images/exif.h"

#include "eps/io/images/picture.h"
#include "tests/exif_bytes.h"
#include "tests/files.h"
#include "tests/jpeg_file.h"

namespace eps {
namespace {

// 3 x 2 pixels (width x height) as a camera stores them.
const std::vector<int> kStored = {200,
                                  100,
                                  166,  //
                                  39,
                                  129,
                                  193};

// The same pixels as they are shown, for orientations 1 to 8, with their width.
const std::vector<std::pair<int64_t, std::vector<int>>> kShown = {
    {3, {200, 100, 166, 39, 129, 193}},  // as stored
    {3, {166, 100, 200, 193, 129, 39}},  // row 0 is the top, column 0 the right side
    {3, {193, 129, 39, 166, 100, 200}},  // bottom, right
    {3, {39, 129, 193, 200, 100, 166}},  // bottom, left
    {2, {200, 39, 100, 129, 166, 193}},  // left, top
    {2, {39, 200, 129, 100, 193, 166}},  // right, top: a camera held upright
    {2, {193, 166, 129, 100, 39, 200}},  // right, bottom
    {2, {166, 193, 100, 129, 200, 39}},  // left, bottom
};

Tensor bytes_of_width(const std::vector<int>& values, int64_t width) {
  return at::tensor(values, at::kByte).reshape({1, -1, width});
}

Tensor shown(int orientation) {
  const auto& [width, values] = kShown.at(static_cast<size_t>(orientation - 1));
  return bytes_of_width(values, width);
}

std::string png_with(const std::string& exif) {
  const auto row = [](size_t first) {
    return '\0' + std::string(kStored.begin() + first, kStored.begin() + first + 3);
  };
  return png_bytes({3, 2, 8, 0, row(0) + row(3), png_chunk("eXIf", exif)});
}

std::string jpeg_with(const std::string& exif) {
  const Tensor blocks = bytes_of_width(kStored, 3).repeat_interleave(8, 1).repeat_interleave(8, 2);
  return encode_jpeg(blocks, {.segments = {{1, std::string("Exif\0\0", 6) + exif}}});
}

TEST(Exif, EveryOrientationOfAPngIsShownUpright) {
  for (const bool is_big_endian : {false, true})
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const auto value = static_cast<uint32_t>(orientation);
      const std::string exif = exif_bytes(is_big_endian, {orientation_entry(value)});
      const Picture picture = parse_picture(png_with(exif), "a.png");
      EXPECT_TRUE(identical(picture.pixels, shown(orientation))) << orientation;
      EXPECT_TRUE(picture.pixels.is_contiguous());
    }
}

TEST(Exif, EveryOrientationOfAJpegIsShownUpright) {
  for (const bool is_big_endian : {false, true})
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const auto value = static_cast<uint32_t>(orientation);
      const std::string exif = exif_bytes(is_big_endian, {orientation_entry(value)});
      const Tensor pixels = parse_picture(jpeg_with(exif), "a.jpg").pixels;
      const Tensor blocks = shown(orientation).repeat_interleave(8, 1).repeat_interleave(8, 2);
      EXPECT_TRUE(identical(pixels, blocks)) << orientation;
    }
}

TEST(Exif, AlphaIsTurnedWithThePixels) {
  const std::string exif = exif_bytes(false, {orientation_entry(6)});
  const Picture picture = parse_picture(
      png_bytes({2, 1, 8, 4, std::string("\0\1\2\3\4", 5), png_chunk("eXIf", exif)}), "a.png");
  EXPECT_TRUE(identical(picture.pixels, at::tensor({1, 3}, at::kByte).reshape({1, 2, 1})));
  EXPECT_TRUE(identical(picture.alpha, at::tensor({2, 4}, at::kByte).reshape({2, 1})));
}

TEST(Exif, TheRecordBecomesThatOfUprightPixels) {
  for (const bool is_big_endian : {false, true}) {
    const ExifEntry other{0x0128, kShortType, 1, 2};
    const std::string stored = exif_bytes(is_big_endian, {orientation_entry(8), other});
    const auto exif = parse_exif(stored);
    ASSERT_TRUE(exif.has_value());
    EXPECT_EQ(exif->orientation, 8);
    EXPECT_EQ(exif->upright, exif_bytes(is_big_endian, {orientation_entry(1), other}));
    EXPECT_EQ(parse_picture(png_with(stored), "a.png").format.exif, exif->upright);
    EXPECT_EQ(parse_picture(jpeg_with(stored), "a.jpg").format.exif, exif->upright);
  }
}

TEST(Exif, TheThumbnailIsCutOff) {
  for (const bool is_big_endian : {false, true}) {
    const std::string content = "\xff\xd8 the damaged picture \xff\xd9";
    const auto exif = parse_exif(exif_with_thumbnail(is_big_endian, content));
    ASSERT_TRUE(exif.has_value());
    EXPECT_EQ(exif->orientation, 6);
    EXPECT_TRUE(exif->upright.starts_with(exif_bytes(is_big_endian, {orientation_entry(1)}, 0)));
    EXPECT_EQ(exif->upright.find("damaged"), std::string::npos);
    // Nothing but zeros follows it; what is no padding stays, and so the thumbnail does.
    const auto padded = parse_exif(exif_with_thumbnail(is_big_endian, content) + '\0');
    EXPECT_EQ(padded->upright, exif->upright);
    const auto followed = parse_exif(exif_with_thumbnail(is_big_endian, content) + "maker");
    EXPECT_NE(followed->upright.find("damaged"), std::string::npos);
    EXPECT_TRUE(followed->upright.starts_with(exif->upright));
  }
}

TEST(Exif, ABrokenRecordCountsAsAbsent) {
  const std::string good = exif_bytes(false, {orientation_entry(6)});
  const std::string number_of_entries = good.substr(0, 8) + "\xff\xff" + good.substr(10);
  std::string pointer = good;
  pointer[7] = '\x7f';
  for (const std::string& broken : {std::string(),
                                    std::string("Exif"),
                                    "IM*\0" + good.substr(4),
                                    number_of_entries,
                                    pointer,
                                    good.substr(0, 4) + std::string(4, '\0') + good.substr(8),
                                    good.substr(0, 21),
                                    good + std::string(kMaxExif, ' ')}) {
    EXPECT_FALSE(parse_exif(broken).has_value()) << broken.substr(0, 30);
    const Picture picture = parse_picture(png_with(broken), "a.png");
    EXPECT_TRUE(identical(picture.pixels, shown(1)));
    EXPECT_EQ(picture.format.exif, "");
  }
}

TEST(Exif, NoPrefixOfARecordIsReadPastItsEnd) {
  const std::string whole = exif_with_thumbnail(true, "thumbnail");
  // The pointer to a second directory may be missing, and so may what it points to.
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(parse_exif(whole.substr(0, size)).has_value(), size >= 8 + 2 + 12) << size;
}

TEST(Exif, AnOrientationThatIsNoneIsUpright) {
  using Entries = std::vector<ExifEntry>;
  for (const Entries& entries : {Entries{},
                                 Entries{orientation_entry(0)},
                                 Entries{orientation_entry(9)},
                                 Entries{{kOrientationTag, kShortType, 2, 6}},
                                 Entries{{kOrientationTag, kLongType, 1, 0x60006}}}) {
    const auto exif = parse_exif(exif_bytes(true, entries));
    ASSERT_TRUE(exif.has_value());
    EXPECT_EQ(exif->orientation, 1);
    // Other programs may see one in what is none.
    const Entries kept = entries.empty() ? Entries{} : Entries{orientation_entry(1)};
    EXPECT_EQ(exif->upright, exif_bytes(true, kept));
  }
}

TEST(Exif, APngWithAWrongChecksumKeepsItsPixels) {
  std::string png = png_with(exif_bytes(false, {orientation_entry(6)}));
  png[png.find("eXIf") + 5] ^= 1;
  const Picture picture = parse_picture(png, "a.png");
  EXPECT_TRUE(identical(picture.pixels, shown(1)));
  EXPECT_EQ(picture.format.exif, "");
}

}  // namespace
}  // namespace eps
