// Pictures as cameras and editors write them: 16 bits, alpha, colour profiles, and JPEGs of every
// sort.
#include "eps/io/images/picture.h"

#include <zlib.h>

#include <cmath>

#include "eps/io/images/icc_profile.h"
#include "eps/io/images/image.h"
#include "tests/exif_bytes.h"
#include "tests/files.h"
#include "tests/jpeg_file.h"

namespace eps {
namespace {

Tensor deep(at::ArrayRef<int> values, const Shape& shape) {
  return at::tensor(values, at::kInt).reshape(shape);
}

std::string png_of_one_pixel(const std::string& chunks) {
  return png_bytes({1, 1, 8, 2, std::string("\0\1\2\3", 4), chunks});
}

std::string icc_chunk(const std::string& name, const std::string& profile) {
  return png_chunk("iCCP", name + std::string(2, '\0') + zlib_stored(profile));
}

TEST(Picture, SixteenBitsAreReadExactly) {
  const std::string two("\0\x01\xff\xff\xfe", 5);  // 511 and 65534
  const struct {
    PngImage png;
    Tensor pixels, alpha;
  } cases[] = {
      {{2, 1, 16, 0, two}, deep({511, 65534}, {1, 1, 2}), {}},
      {{1, 1, 16, 4, two}, deep({511}, {1, 1, 1}), deep({65534}, {1, 1})},
      {{1, 1, 16, 2, std::string("\0\1\2\3\4\5\6", 7)}, deep({258, 772, 1286}, {3, 1, 1}), {}},
      {{1, 1, 16, 6, std::string("\0\1\2\3\4\5\6\7\x08", 9)},
       deep({258, 772, 1286}, {3, 1, 1}),
       deep({1800}, {1, 1})},
      // One colour is transparent.
      {{2, 1, 16, 0, two, png_chunk("tRNS", "\x01\xff")},
       deep({511, 65534}, {1, 1, 2}),
       deep({0, 65535}, {1, 2})},
      // Two of the seven passes, with a row each.
      {{2, 1, 16, 0, std::string("\0\x01\xff\0\xff\xfe", 6), "", 1},
       deep({511, 65534}, {1, 1, 2}),
       {}},
  };
  for (const auto& [png, pixels, alpha] : cases) {
    const Picture picture = parse_picture(png_bytes(png), "a");
    EXPECT_TRUE(identical(picture.pixels, pixels)) << png.colour_type;
    ASSERT_EQ(picture.alpha.defined(), alpha.defined());
    if (alpha.defined()) {
      EXPECT_TRUE(identical(picture.alpha, alpha)) << png.colour_type;
    }
    EXPECT_EQ(picture.format.bits, 16);
  }
}

TEST(Picture, AlphaIsReadBesideThePixels) {
  const auto alpha = [](const PngImage& png) { return parse_picture(png_bytes(png), "a").alpha; };
  const auto bytes = [](at::ArrayRef<int> values) {
    return at::tensor(values, at::kByte).unsqueeze(0);
  };
  const std::string palette = png_chunk("PLTE", std::string("\1\2\3\xff\xfe\xfd", 6)),
                    transparent = png_chunk("tRNS", std::string("\0", 1));
  EXPECT_TRUE(identical(alpha({2, 1, 8, 4, std::string("\0\7\0\x08\xff", 5)}), bytes({0, 255})));
  EXPECT_TRUE(identical(alpha({1, 1, 8, 6, std::string("\0\7\x08\x09\5", 5)}), bytes({5})));
  EXPECT_TRUE(identical(alpha({2, 1, 1, 3, std::string("\0\x40", 2), palette + transparent}),
                        bytes({0, 255})));
  // Of 2 bits, level 1 is transparent.
  EXPECT_TRUE(identical(
      alpha({2, 1, 2, 0, std::string("\0\x70", 2), png_chunk("tRNS", std::string("\0\1", 2))}),
      bytes({0, 255})));
  EXPECT_FALSE(alpha({2, 1, 8, 0, std::string("\0\5\xff", 3)}).defined());
  EXPECT_FALSE(alpha({2, 1, 1, 3, std::string("\0\x40", 2), palette}).defined());
}

// 65535 is 257 times 255, so that every grey level of 8 bits is one of 16.
TEST(Picture, SixteenBitsHaveTheValuesOfEight) {
  const Tensor all = at::arange(65536, at::kInt), bytes = at::arange(256, at::kByte);
  EXPECT_TRUE(identical(to_uint16(from_uint16(all)), all));
  EXPECT_TRUE(identical(from_uint16(257 * at::arange(256, at::kInt)), from_uint8(bytes)));
  EXPECT_TRUE(identical(grey_levels(257 * at::arange(256, at::kInt)), grey_levels(bytes)));
  EXPECT_TRUE(identical(grey_levels(deep({257, 385}, {2})), at::tensor({1.0, 385 / 257.0})));
  const Tensor x = at::tensor({-2.0, -1.0, 0.0, 1.0, 9.0}, at::kDouble);
  EXPECT_TRUE(identical(to_uint16(x), deep({0, 0, 32768, 65535, 65535}, {5})));
  EXPECT_EQ(error_of([] { to_uint16(at::full({1}, NAN)); }),
            "to_uint16: the image holds values that are not a number");
}

TEST(Picture, ColoursOfAPngAreKept) {
  const std::string profile = icc_bytes("RGB "), chromaticities(32, '\1');
  const std::string chunks =
      png_chunk("gAMA", big_endian(45455, 4)) + png_chunk("cHRM", chromaticities) +
      png_chunk("sRGB", std::string(1, '\1')) + icc_chunk("Display P3", profile);
  const PictureFormat format = parse_picture(png_of_one_pixel(chunks), "a").format;
  EXPECT_EQ(format.icc_profile, profile);
  EXPECT_EQ(format.icc_name, "Display P3");
  EXPECT_EQ(format.colour_chunks,
            (std::map<std::string, std::string>{
                {"gAMA", big_endian(45455, 4)}, {"cHRM", chromaticities}, {"sRGB", "\1"}}));
  EXPECT_TRUE(parse_picture(png_of_one_pixel(""), "a").format.colour_chunks.empty());
}

TEST(Picture, ABrokenProfileCountsAsAbsent) {
  const std::string profile = icc_bytes("RGB ");
  std::string wrong_checksum = icc_chunk("a", profile);
  wrong_checksum.back() ^= 1;
  std::string no_profile = profile;
  no_profile[36] = 'b';
  for (const std::string& chunk :
       {wrong_checksum,
        icc_chunk("a", profile.substr(0, 131)),
        icc_chunk("a", no_profile),
        icc_chunk("a", icc_bytes("CMYK")),
        icc_chunk("a", icc_bytes("RGB ", 200).substr(0, 140)),
        png_chunk("iCCP", std::string("a\0\1", 3) + zlib_stored(profile)),
        png_chunk("iCCP", std::string("a\0\0", 3) + "no deflate"),
        png_chunk("iCCP", "a"),
        png_chunk("sRGB", "too long"),
        std::string("\x7f\xff\xff\xffiCCP", 8)}) {
    const std::string file = png_of_one_pixel(chunk);
    if (chunk.size() == 8) {
      EXPECT_NE(error_of([&] { parse_picture(file, "a"); }), "");
      continue;
    }
    const PictureFormat format = parse_picture(file, "a").format;
    EXPECT_EQ(format, (PictureFormat{.colour_chunks = {}})) << chunk.substr(0, 60);
  }
  // A name that no chunk may have is replaced, and what follows the profile is left out.
  const PictureFormat format =
      parse_picture(png_of_one_pixel(icc_chunk(" a  b\n", profile + "more")), "a").format;
  EXPECT_EQ(format.icc_profile, profile);
  EXPECT_EQ(format.icc_name, kIccName);
}

// 5 MB of zeros are 5 kB of deflate.
TEST(Picture, TheMemoryOfAProfileIsBounded) {
  constexpr size_t kSize = size_t{5} << 20;
  const std::string large =
      big_endian(kSize, 4) + icc_bytes("RGB ", 132).substr(4) + std::string(kSize - 132, '\0');
  std::string packed(compressBound(large.size()), '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()),
                     &size,
                     reinterpret_cast<const Bytef*>(large.data()),
                     large.size()),
            Z_OK);
  packed.resize(size);
  const std::string chunk = png_chunk("iCCP", std::string("a\0\0", 3) + packed);
  EXPECT_EQ(parse_picture(png_of_one_pixel(chunk), "a").format.icc_profile, "");
  EXPECT_EQ(checked_icc_profile(large), "");
  EXPECT_EQ(checked_icc_profile(large.substr(0, 4)), "");
}

TEST(Picture, AProfileInSegmentsOfAJpegIsJoined) {
  const Tensor grey = at::full({1, 8, 8}, 200, at::kByte);
  const std::string profile = icc_bytes("GRAY", 100000);
  const auto profile_of = [&](const std::vector<std::pair<int, std::string>>& segments) {
    const Picture picture = parse_picture(encode_jpeg(grey, {.segments = segments}), "a");
    EXPECT_TRUE(identical(picture.pixels, grey));
    EXPECT_EQ(picture.format.icc_name, picture.format.icc_profile.empty() ? "" : kIccName);
    return picture.format.icc_profile;
  };
  auto segments = icc_segments({profile.substr(0, 60000), profile.substr(60000)});
  EXPECT_EQ(profile_of(segments), profile);
  std::swap(segments[0], segments[1]);
  EXPECT_EQ(profile_of(segments), profile);
  EXPECT_EQ(profile_of({segments[0]}), "");
  EXPECT_EQ(profile_of({segments[0], segments[0]}), "");
  EXPECT_EQ(profile_of({segments[0], segments[1], segments[1]}), "");
  EXPECT_EQ(profile_of({{2, "ICC_PROFILE"}, {2, std::string("ICC_PROFILE\0\1", 13)}}), "");
  EXPECT_EQ(profile_of({{2, "MPF and others use APP2, too"}}), "");
  EXPECT_EQ(profile_of({}), "");
}

TEST(Picture, FramesOfAnAnimationAreCounted) {
  const std::string control = png_chunk("acTL", big_endian(12, 4) + big_endian(0, 4));
  EXPECT_EQ(parse_picture(png_of_one_pixel(control), "a").frames, 12);
  EXPECT_EQ(parse_picture(png_of_one_pixel(""), "a").frames, 1);
}

TEST(Picture, EverySortOfJpegHasTheSamePixels) {
  const Tensor image = (at::arange(12, at::kInt) * 23 % 256)
                           .to(at::kByte)
                           .reshape({1, 3, 4})
                           .repeat_interleave(8, 1)
                           .repeat_interleave(8, 2);
  EXPECT_TRUE(identical(parse_picture(encode_jpeg(image), "a").pixels, image));
  EXPECT_TRUE(
      identical(parse_picture(encode_jpeg(image, {.is_progressive = true}), "a").pixels, image));
  EXPECT_TRUE(
      identical(parse_picture(encode_jpeg(image, {.restart_interval = 2}), "a").pixels, image));
}

}  // namespace
}  // namespace eps
