// The Lanczos filter where its answer is known without computing it.
#include "eps/io/images/resize.h"

#include "tests/files.h"

namespace eps {
namespace {

// (1, 1, W)
Tensor row(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong).to(at::kByte).view({1, 1, -1});
}

TEST(Resize, AConstantImageStaysConstant) {
  for (const int64_t value : {0, 1, 128, 255}) {
    const Tensor image = at::full({3, 37, 53}, value, at::kByte);
    for (const int64_t size : {1, 5, 36, 53, 64, 200}) {
      EXPECT_TRUE(identical(resize_lanczos(image, size, size),
                            at::full({3, size, size}, value, at::kByte)));
    }
  }
}

TEST(Resize, TheSameSizeIsTheSameImage) {
  const Tensor image = (at::arange(3 * 9 * 11, at::kLong) * 97 % 256).to(at::kByte);
  EXPECT_TRUE(identical(resize_lanczos(image.view({3, 9, 11}), 9, 11), image.view({3, 9, 11})));
}

// By 4, the centre of output pixel i is at 4 i + 1.5; a symmetric filter gives a ramp's value
// there.
TEST(Resize, ARampStaysARampAwayFromTheBorder) {
  const Tensor ramp = (2 * at::arange(128, at::kLong)).to(at::kByte).view({1, 1, 128});
  const Tensor small = resize_lanczos(ramp.expand({1, 128, 128}), 32, 32);
  const Tensor expected = (8 * at::arange(32, at::kLong) + 3).to(at::kByte).view({1, 1, 32});
  const Tensor inner = small.narrow(2, 3, 26);
  EXPECT_TRUE(identical(inner, expected.narrow(2, 3, 26).expand_as(inner)));
}

// Alternating columns have the highest frequency there is, four times the new Nyquist frequency.
TEST(Resize, AFrequencyBeyondNyquistVanishes) {
  const Tensor stripes = (at::arange(128, at::kLong) % 2 * 255).to(at::kByte).view({1, 1, 128});
  const Tensor small = resize_lanczos(stripes.expand({1, 16, 128}), 16, 32).to(at::kLong);
  const Tensor inner = small.narrow(2, 3, 26);
  EXPECT_GE(inner.min().item<int64_t>(), 127);
  EXPECT_LE(inner.max().item<int64_t>(), 128);
}

// One weight of one half each: halves are rounded up.
TEST(Resize, TwoPixelsBecomeTheirMean) {
  EXPECT_TRUE(identical(resize_lanczos(row({10, 20}), 1, 1), row({15})));
  EXPECT_TRUE(identical(resize_lanczos(row({10, 21}), 1, 1), row({16})));
}

TEST(Resize, RowsAndColumnsAreTreatedAlike) {
  const Tensor image = (at::arange(2 * 24 * 24, at::kLong) * 89 % 251).to(at::kByte);
  const Tensor x = image.view({2, 24, 24});
  EXPECT_TRUE(identical(resize_lanczos(x, 24, 7), resize_lanczos(x.mT(), 7, 24).mT()));
}

// The negative lobes beside an edge would leave the bytes.
TEST(Resize, OvershootIsClipped) {
  const Tensor edge = row({0, 0, 0, 0, 255, 255, 255, 255});
  const Tensor large = resize_lanczos(edge, 1, 32);
  EXPECT_EQ(large.narrow(2, 0, 14).max().item<int64_t>() < 30, true);
  EXPECT_EQ(large.narrow(2, 18, 14).min().item<int64_t>() > 225, true);
  EXPECT_GT(large.eq(0).sum().item<int64_t>() + large.eq(255).sum().item<int64_t>(), 8);
}

TEST(Resize, WrongInputIsNamed) {
  EXPECT_EQ(error_of([] {
              resize_lanczos(at::zeros({3, 4, 4}), 2, 2);
            }),
            "resize_lanczos: uint8 C x H x W is wanted, got float 3 x 4 x 4");
  EXPECT_EQ(error_of([] {
              resize_lanczos(at::zeros({3, 4, 4}, at::kByte), 0, 2);
            }),
            "resize_lanczos: the new size must be at least 1 x 1, got 0 x 2");
}

}  // namespace
}  // namespace eps
