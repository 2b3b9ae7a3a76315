// Pictures as eps writes them: what libpng finds in the files, and what is read again.
#include <png.h>

#include <cstdio>

#include "eps/base/random.h"
#include "eps/io/images/image.h"
#include "eps/io/images/picture.h"
#include "tests/exif_bytes.h"
#include "tests/files.h"
#include "tests/jpeg_file.h"

namespace eps {
namespace {

// A `PngContents` holds what libpng reads of a file. An error of libpng ends the program, and with
// it the test; its warnings are counted.
struct PngContents {
  explicit PngContents(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, nullptr, on_warning);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_SWAP_ENDIAN, nullptr);
    bits = png_get_bit_depth(png, info);
    colour_type = png_get_color_type(png, info);
    const size_t row_bytes = png_get_rowbytes(png, info);
    for (png_uint_32 i = 0; i < png_get_image_height(png, info); ++i)
      rows.append(reinterpret_cast<const char*>(png_get_rows(png, info)[i]), row_bytes);
    read_colours(png, info);
    png_destroy_read_struct(&png, &info, nullptr);
    std::fclose(file);
  }
  PngContents(const PngContents&) = delete;

  void read_colours(png_structp png, png_infop info) {
    png_charp name = nullptr;
    png_bytep profile = nullptr, record = nullptr;
    png_uint_32 size = 0;
    int compression = 0;
    if (png_get_iCCP(png, info, &name, &compression, &profile, &size) != 0) {
      icc_name = name;
      icc_profile.assign(reinterpret_cast<const char*>(profile), size);
    }
    if (png_get_eXIf_1(png, info, &size, &record) != 0)
      exif.assign(reinterpret_cast<const char*>(record), size);
    png_get_sRGB(png, info, &intent);
    png_get_gAMA_fixed(png, info, &gamma);
  }

  static void on_warning(png_structp png, png_const_charp message) {
    auto* contents = static_cast<PngContents*>(png_get_error_ptr(png));
    contents->warnings += message;
  }

  int bits = 0, colour_type = 0, intent = -1;
  png_fixed_point gamma = 0;
  std::string rows, icc_name, icc_profile, exif, warnings;
};

class PictureWriter : public testing::Test {
 protected:
  PngContents written(const Tensor& image, const PictureFormat& format) const {
    write_picture(path_, image, format);
    return PngContents(path_);
  }
  const Folder folder_;
  const std::string path_ = folder_.file("a.png");
  const std::string exif_ = exif_bytes(true, {orientation_entry(1)});
};

TEST_F(PictureWriter, LibpngFindsTheProfileTheRecordAndTheColours) {
  const Tensor image = Rng(1).uniform({3, 4, 5}) * 2 - 1;
  const PictureFormat format{.bits = 8,
                             .icc_profile = icc_bytes("RGB "),
                             .icc_name = "Display P3",
                             .exif = exif_,
                             .colour_chunks = {{"gAMA", big_endian(50000, 4)}}};
  const PngContents found = written(image, format);
  EXPECT_EQ(found.warnings, "");
  EXPECT_EQ(found.bits, 8);
  EXPECT_EQ(found.colour_type, PNG_COLOR_TYPE_RGB);
  EXPECT_EQ(found.icc_name, "Display P3");
  EXPECT_EQ(found.icc_profile, format.icc_profile);
  EXPECT_EQ(found.exif, exif_);
  EXPECT_EQ(found.gamma, 50000);
  EXPECT_EQ(found.intent, -1);
  const Picture picture = read_picture(path_);
  EXPECT_EQ(picture.format, format);
  EXPECT_TRUE(identical(picture.pixels, to_uint8(image)));
}

TEST_F(PictureWriter, SixteenBitsAreWrittenExactly) {
  const Tensor all = at::arange(65536, at::kInt).reshape({1, 256, 256});
  const PngContents grey = written(from_uint16(all), {.bits = 16});
  EXPECT_EQ(grey.bits, 16);
  EXPECT_EQ(grey.colour_type, PNG_COLOR_TYPE_GRAY);
  const Tensor expected = all.to(at::kShort);
  EXPECT_EQ(grey.rows,
            std::string(static_cast<const char*>(expected.data_ptr()), size_t{2} * 65536));
  EXPECT_TRUE(identical(read_picture(path_).pixels, all));
  const Tensor colours = at::cat({all, all.flip(1), all.transpose(1, 2)});
  EXPECT_EQ(written(from_uint16(colours), {.bits = 16}).colour_type, PNG_COLOR_TYPE_RGB);
  EXPECT_TRUE(identical(read_picture(path_).pixels, colours));
}

// Pixels that come from no file are sRGB, whoever writes them.
TEST_F(PictureWriter, PixelsOfNoFileAreSrgb) {
  const Tensor image = Rng(1).uniform({1, 4, 5});
  EXPECT_EQ(written(image, {}).intent, PNG_sRGB_INTENT_PERCEPTUAL);
  EXPECT_EQ(get_bytes(path_), encode_png(to_uint8(image), "a.png"));
}

TEST_F(PictureWriter, AProfileOfAnotherColourSpaceIsLeftOut) {
  const PictureFormat grey{.icc_profile = icc_bytes("GRAY"), .icc_name = "Dot gain"},
      colour{.icc_profile = icc_bytes("RGB "), .icc_name = "Display P3"};
  const Tensor one = at::zeros({1, 2, 2}), three = at::zeros({3, 2, 2});
  EXPECT_EQ(written(one, grey).icc_profile, grey.icc_profile);
  EXPECT_EQ(written(three, grey).icc_profile, "");
  EXPECT_EQ(written(three, colour).icc_profile, colour.icc_profile);
  EXPECT_EQ(written(one, colour).icc_profile, "");
}

TEST_F(PictureWriter, AJpegBecomesAnUprightPng) {
  const std::string profile = icc_bytes("RGB ", 70000);
  const Tensor image = at::arange(6, at::kByte).mul(40).reshape({1, 2, 3}).repeat_interleave(8, 1);
  const Tensor wide = image.repeat_interleave(8, 2).expand({3, 16, 24});
  auto segments = icc_segments({profile.substr(0, 65000), profile.substr(65000)});
  segments.emplace_back(1, std::string("Exif\0\0", 6) + exif_with_thumbnail(true, "a thumbnail"));
  const Picture jpeg = parse_picture(encode_jpeg(wide, {.segments = segments}), "a.jpg");
  const PngContents found = written(jpeg.values(), jpeg.format);
  EXPECT_EQ(found.warnings, "");
  EXPECT_EQ(found.icc_profile, profile);
  EXPECT_TRUE(found.exif.starts_with(exif_));
  EXPECT_EQ(found.exif.find("thumbnail"), std::string::npos);
  const Picture png = read_picture(path_);
  EXPECT_EQ(png.pixels.sizes(), (Shape{3, 24, 16}));
  EXPECT_TRUE(identical(png.pixels, jpeg.pixels));
  EXPECT_EQ(png.format, jpeg.format);
}

// libpng would pass over the second of them.
TEST_F(PictureWriter, AProfileStandsInPlaceOfSrgb) {
  PictureFormat format{.icc_profile = icc_bytes("RGB "), .icc_name = "Display P3"};
  ASSERT_EQ(format.colour_chunks.count("sRGB"), 1u);
  write_picture(path_, at::zeros({3, 2, 2}), format);
  EXPECT_EQ(read_picture(path_).format.icc_profile, format.icc_profile);
  EXPECT_TRUE(read_picture(path_).format.colour_chunks.empty());
  write_picture(path_, at::zeros({1, 2, 2}), format);
  EXPECT_EQ(read_picture(path_).format, PictureFormat{});
}

TEST_F(PictureWriter, EveryFormatIsReadAsItWasWritten) {
  for (const int64_t bits : {8, 16})
    for (const int64_t channels : {1, 3}) {
      const PictureFormat format{.bits = bits,
                                 .icc_profile = icc_bytes(channels == 1 ? "GRAY" : "RGB "),
                                 .icc_name = "a",
                                 .exif = exif_,
                                 .colour_chunks = {{"cHRM", std::string(32, '\1')},
                                                   {"cICP", std::string(4, '\1')},
                                                   {"gAMA", std::string(4, '\1')}}};
      const Tensor image = Rng(2).uniform({channels, 3, 4}) * 2 - 1;
      write_picture(path_, image, format);
      const Picture picture = read_picture(path_);
      EXPECT_EQ(picture.format, format);
      EXPECT_TRUE(identical(picture.pixels, bits == 8 ? to_uint8(image) : to_uint16(image)));
    }
}

}  // namespace
}  // namespace eps
