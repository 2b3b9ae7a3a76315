// Images: hand-made PNG and JPEG files with known pixels, and every way to be malformed.
#include "eps/io/images/image.h"

#include <cmath>

#include "eps/io/images/image_codecs.h"
#include "eps/io/images/picture_size.h"
#include "tests/files.h"
#include "tests/image_bytes.h"

namespace eps {
namespace {

Tensor bytes(at::ArrayRef<int> values, const Shape& shape) {
  return at::tensor(values, at::kByte).reshape(shape);
}

TEST(Image, PngRoundTrips) {
  const Folder folder;
  const Tensor image = at::arange(3 * 5 * 7, at::kByte).reshape({3, 5, 7});
  for (const Tensor& written : {image, image.slice(0, 1, 2), image.slice(2, 0, 7, 2)}) {
    write_png(folder.file("a"), written);
    EXPECT_TRUE(identical(read_image(folder.file("a")), written.contiguous()));
    const std::string quick = encode_png_pixels(written, {}, "a", /*quick=*/true);
    EXPECT_TRUE(identical(parse_image(quick, "a"), written.contiguous()));
    EXPECT_EQ(stored_picture_size(quick), std::pair(written.size(2), written.size(1)));
  }
  write_png(folder.file("a"), image[0]);
  EXPECT_TRUE(identical(read_image(folder.file("a")), image.slice(0, 0, 1)));
}

TEST(Image, PngsOfEverySortAreRead) {
  const std::string palette = png_chunk("PLTE", std::string("\1\2\3\xff\xfe\xfd", 6));
  const std::string transparent = png_chunk("tRNS", std::string("\0", 1));
  const struct {
    PngImage png;
    Tensor image;
  } cases[] = {
      {{2, 1, 8, 0, std::string("\0\5\xff", 3)}, bytes({5, 255}, {1, 1, 2})},
      {{1, 2, 8, 2, std::string("\0\1\2\3\0\4\5\6", 8)}, bytes({1, 4, 2, 5, 3, 6}, {3, 2, 1})},
      {{2, 1, 1, 0, std::string("\0\x40", 2)}, bytes({0, 255}, {1, 1, 2})},
      {{2, 1, 4, 0, std::string("\0\x1f", 2)}, bytes({17, 255}, {1, 1, 2})},
      {{2, 1, 1, 3, std::string("\0\x40", 2), palette}, bytes({1, 255, 2, 254, 3, 253}, {3, 1, 2})},
      // Rounded, not cut: 0x01ff is 1.99 of 255.
      {{2, 1, 16, 0, std::string("\0\x01\xff\xff\xff", 5)}, bytes({2, 255}, {1, 1, 2})},
      // Alpha is dropped, the colour under it stays.
      {{2, 1, 8, 4, std::string("\0\7\0\x08\xff", 5)}, bytes({7, 8}, {1, 1, 2})},
      {{1, 1, 8, 6, std::string("\0\7\x08\x09\0", 5)}, bytes({7, 8, 9}, {3, 1, 1})},
      {{1, 1, 1, 3, std::string("\0\0", 2), palette + transparent}, bytes({1, 2, 3}, {3, 1, 1})},
      // Interlaced, two passes: pixel 0 in the first, pixel 1 in the sixth.
      {{2, 1, 8, 0, std::string("\0\5\0\6", 4), "", 1}, bytes({5, 6}, {1, 1, 2})},
  };
  for (const auto& [png, image] : cases) {
    EXPECT_TRUE(identical(parse_image(png_bytes(png), "a"), image))
        << "bits " << png.bits << ", colour type " << png.colour_type;
  }
}

// Y = 200 (DC offset +72: category 7, bits 1001000), then the end of the block.
TEST(Image, AGreyJpegIsRead) {
  const std::string data{static_cast<char>(0b10100100), static_cast<char>(0b00111111)};
  const std::string jpeg = jpeg_start(0xc0, 8, 8, 1) + jpeg_scan(1, 0, 63, 0, 0, data) + kJpegEnd;
  EXPECT_TRUE(identical(parse_image(jpeg, "a"), at::full({1, 8, 8}, 200, at::kByte)));
}

// Y = 128, Cb = 128, Cr = 192: R = Y + 1.402 * 64 = 217.7, G = Y - 0.714 * 64 = 82.3, B = Y.
TEST(Image, AColourJpegIsRead) {
  const std::string data{0b00001010, static_cast<char>(0b00000011)};
  const std::string jpeg = jpeg_start(0xc0, 5, 3, 3) + jpeg_scan(3, 0, 63, 0, 0, data) + kJpegEnd;
  const Tensor colour = bytes({218, 82, 128}, {3, 1, 1});
  EXPECT_TRUE(identical(parse_image(jpeg, "a"), colour.expand({3, 3, 5}).contiguous()));
  EXPECT_EQ(stored_picture_size(jpeg), std::pair(int64_t{5}, int64_t{3}));
}

std::string progressive_jpeg(int scans) {
  std::string jpeg = jpeg_start(0xc2, 8, 8, 1) + jpeg_scan(1, 0, 0, 0, 1, "\x7f");
  jpeg += jpeg_scan(1, 0, 0, 1, 0, "\x7f");
  for (int k = 1; k <= scans - 2; ++k) jpeg += jpeg_scan(1, k, k, 0, 0, "\x7f");
  return jpeg + kJpegEnd;
}

TEST(Image, AProgressiveJpegMayHave64Scans) {
  EXPECT_TRUE(
      identical(parse_image(progressive_jpeg(64), "a"), at::full({1, 8, 8}, 128, at::kByte)));
  EXPECT_EQ(error_of([] { parse_image(progressive_jpeg(65), "a.jpg"); }),
            "a.jpg: cannot decode the JPEG: more than 64 scans");
}

TEST(Image, WhatIsNeitherIsNamed) {
  EXPECT_EQ(error_of([] { parse_image("GIF89a\1\2\3", "a.png"); }),
            "a.png: not a PNG or JPEG image (starts with \"GIF89a\\x01\\x02\")");
  EXPECT_EQ(error_of([] { parse_image("", "a.png"); }),
            "a.png: not a PNG or JPEG image (starts with nothing: the file is empty)");
  const Folder folder;
  put_bytes(folder.file("a.png"), "hello");
  EXPECT_EQ(error_of([&] { read_image(folder.file("a.png")); }),
            folder.file("a.png") + ": not a PNG or JPEG image (starts with \"hello\")");
}

TEST(Image, EveryPrefixOfAFileIsRefused) {
  const std::string jpeg = jpeg_start(0xc0, 8, 8, 1) + jpeg_scan(1, 0, 63, 0, 0, "\x3f") + kJpegEnd;
  ASSERT_EQ(parse_image(jpeg, "a").numel(), 64);
  const std::string png = png_bytes({2, 1, 8, 0, std::string("\0\5\xff", 3)});
  for (const std::string& whole : {jpeg, png}) {
    for (size_t size = 8; size < whole.size(); ++size) {
      const std::string message = error_of([&] { parse_image(whole.substr(0, size), "a.img"); });
      EXPECT_TRUE(message.starts_with("a.img: ")) << size << ": " << message;
    }
  }
}

TEST(Image, ACorruptPngIsRefused) {
  std::string png = png_bytes({2, 1, 8, 0, std::string("\0\5\xff", 3)});
  EXPECT_EQ(error_of([&] { parse_image(png.substr(0, png.size() - 1), "a.png"); }),
            "a.png: cannot decode the PNG: the file is truncated");
  png[png.find("IDAT") + 6] ^= 1;
  const std::string message = error_of([&] { parse_image(png, "a.png"); });
  EXPECT_EQ(message, "a.png: cannot decode the PNG: IDAT: CRC error");
}

TEST(Image, ClaimsOfSizeAreCheckedBeforeMemoryIsTaken) {
  EXPECT_EQ(
      error_of([] {
        parse_image(png_bytes({8193, 8192, 8, 2, "x"}), "a.png");
      }),
      "a.png: the image is 8193 x 8192 pixels (width x height), at least 1 and at most 67108864 "
      "pixels are allowed");
  const std::string png = png_bytes({8192, 8192, 8, 2, "x"});
  EXPECT_EQ(error_of([&] { parse_image(png, "a.png"); }),
            "a.png: truncated or corrupt: 8192 x 8192 pixels (width x height) cannot come from " +
                std::to_string(png.size()) + " bytes");
  const std::string jpeg = jpeg_start(0xc0, 65000, 1000, 1) + jpeg_scan(1, 0, 63, 0, 0, "\x3f");
  EXPECT_EQ(error_of([&] { parse_image(jpeg, "a.jpg"); }),
            "a.jpg: truncated or corrupt: 65000 x 1000 pixels (width x height) cannot come from " +
                std::to_string(jpeg.size()) + " bytes");
}

// No image packs better than one of a single colour: the bound above must let it pass.
TEST(Image, TheBestPackedPngIsRead) {
  const Folder folder;
  for (const int64_t channels : {1, 3}) {
    const Tensor black = at::zeros({channels, 2048, 2048}, at::kByte);
    write_png(folder.file("a"), black);
    EXPECT_LT(get_bytes(folder.file("a")).size(), static_cast<size_t>(black.numel() / 900));
    EXPECT_TRUE(identical(read_image(folder.file("a")), black));
  }
}

TEST(Image, JpegsOfOtherSortsAreRefused) {
  const std::string cmyk = jpeg_start(0xc0, 8, 8, 4) + jpeg_scan(4, 0, 63, 0, 0, "\x7f");
  EXPECT_EQ(error_of([&] { parse_image(cmyk, "a.jpg"); }),
            "a.jpg: the JPEG has 4 colour components (CMYK?), 1 or 3 are wanted: save it as RGB "
            "first, or as a PNG");
  const std::string arithmetic = jpeg_start(0xc9, 8, 8, 1) + jpeg_scan(1, 0, 63, 0, 0, "\x7f");
  EXPECT_EQ(
      error_of([&] { parse_image(arithmetic, "a.jpg"); }),
      "a.jpg: arithmetic-coded JPEG is not read, only Huffman-coded: save it again, or as a PNG");
  std::string deep = jpeg_start(0xc1, 8, 8, 1) + jpeg_scan(1, 0, 63, 0, 0, "\x7f");
  deep[deep.find("\xff\xc1") + 4] = 12;
  EXPECT_EQ(
      error_of([&] { parse_image(deep, "a.jpg"); }),
      "a.jpg: the JPEG has 12 bits of each colour, 8 are wanted: save it as a PNG of 16 bits");
}

TEST(Image, OnlyImagesAreWritten) {
  const Folder folder;
  const std::string path = folder.file("a.png");
  EXPECT_EQ(error_of([&] {
              write_png(path, at::zeros({3, 4, 4}));
            }),
            path + ": a PNG is written from uint8");
  for (const Shape& shape : {Shape{2, 4, 4}, Shape{1, 3, 4, 4}, Shape{3, 0, 4}, Shape{4}}) {
    EXPECT_EQ(
        error_of([&] { write_png(path, at::zeros(shape, at::kByte)); }),
        path + ": a PNG is written from 1 x H x W, 3 x H x W or H x W, got " + to_string(shape));
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Image, BytesAndUnitIntervalAgree) {
  const Tensor all = at::arange(256, at::kByte);
  EXPECT_TRUE(identical(to_uint8(from_uint8(all)), all));
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    const Tensor x = at::tensor({-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 9.0}).to(dtype);
    EXPECT_TRUE(identical(to_uint8(x), bytes({0, 0, 64, 128, 191, 255, 255}, {7})));
  }
  EXPECT_TRUE(identical(from_uint8(bytes({0, 255}, {2})), at::tensor({-1.0f, 1.0f})));
  EXPECT_EQ(error_of([] { to_uint8(at::full({1}, NAN)); }),
            "to_uint8: the image holds values that are not a number");
}

TEST(Image, AGridHasWhiteBetweenAndAround) {
  const Tensor images = at::arange(3, at::kByte).reshape({3, 1, 1, 1}).expand({3, 1, 1, 2});
  const int w = 255;
  EXPECT_TRUE(identical(image_grid(images, 2, 1),
                        bytes({w, w, w, w, w, w, w,  //
                               w, 0, 0, w, 1, 1, w,  //
                               w, w, w, w, w, w, w,  //
                               w, 2, 2, w, w, w, w,  //
                               w, w, w, w, w, w, w},
                              {1, 5, 7})));
  EXPECT_EQ(image_grid(images, 8).sizes(), (Shape{1, 5, 14}));
  EXPECT_TRUE(identical(image_grid(images, 1, 0), bytes({0, 0, 1, 1, 2, 2}, {1, 3, 2})));
  EXPECT_EQ(error_of([&] { image_grid(images, 0); }),
            "image_grid: columns must be at least 1, got 0");
}

}  // namespace
}  // namespace eps
