// Hints about measurements and masks that are not what they are taken for.
#include "eps/restore/input_hints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "eps/base/random.h"
#include "eps/io/images/image.h"

namespace eps {
namespace {

class InputHints : public testing::Test {
 protected:
  InputHints() {
    hole_.narrow(2, 4, 8).narrow(3, 4, 8).fill_(1);
    kept_ = (1 - hole_).expand_as(y_);
  }
  // What a person has whose picture has a black hole.
  Tensor punched(const Tensor& hole) const { return y_ * (1 - hole) - hole; }
  static bool says(const std::vector<std::string>& hints, const std::string& words) {
    return hints.size() == 1 && hints[0].find(words) != std::string::npos;
  }

  const Tensor y_ = Rng(1).normal({1, 3, 16, 16}).mul(0.3).clamp(-1, 1);
  Tensor hole_ = at::zeros({1, 1, 16, 16}, at::kDouble), kept_;
};

TEST_F(InputHints, AreNoneOfAMaskThatFits) {
  EXPECT_TRUE(mask_hints("m", punched(hole_), kept_).empty());
  EXPECT_TRUE(mask_hints("m", y_, kept_).empty());  // the holes hold the picture, as all of it does
  EXPECT_TRUE(mask_hints("m", y_.masked_fill(hole_ != 0, std::nan("")), kept_).empty());
  EXPECT_TRUE(mask_hints("m", y_, at::ones_like(y_)).empty());
}

TEST_F(InputHints, RecogniseAnInvertedMask) {
  const auto hints = mask_hints("m", punched(hole_), 1 - kept_);
  EXPECT_TRUE(says(hints, "m: the mask seems to be inverted: the 25% of the pixels"));
}

TEST_F(InputHints, RecogniseAMaskThatIsTooSmall) {
  Tensor smaller = at::zeros_like(hole_);
  smaller.narrow(2, 5, 6).narrow(3, 5, 6).fill_(1);
  EXPECT_TRUE(
      says(mask_hints("m", punched(hole_), (1 - smaller).expand_as(y_)), "too small: 100%"));
}

TEST_F(InputHints, RecogniseUnitsFromZeroToOne) {
  EXPECT_TRUE(says(range_hints("y", (y_ + 1) / 2), "y: its values seem to lie in [0, 1]"));
  EXPECT_TRUE(range_hints("y", y_).empty());
}

// Faces in either unit, with noise of 0 to 12.8 grey levels, and bright ones in [-1, 1].
TEST_F(InputHints, TellTheUnitsOfNoisyAndOfBrightPictures) {
  Rng rng(4);
  for (int face = 1; face <= 12; ++face) {
    const std::string file =
        fmt::format("{}/models/faces64-images/{:02d}.png", EPS_SOURCE_DIR, face);
    const Tensor unit = read_image(file).unsqueeze(0).to(at::kDouble) / 255;
    for (const double noise : {0.0, 0.025, 0.05}) {
      const Tensor n = noise * rng.normal(unit.sizes().vec());
      EXPECT_FALSE(range_hints("y", unit + n).empty()) << file << ' ' << noise;
      for (const double gamma : {1.0, 0.5})
        EXPECT_TRUE(range_hints("y", 2 * (unit.pow(gamma) + n) - 1).empty())
            << file << ' ' << noise << ' ' << gamma;
    }
  }
}

TEST_F(InputHints, SayThatOneFrameOfAnAnimationIsRead) {
  const Picture still{.pixels = at::zeros({3, 2, 2}, at::kByte)};
  EXPECT_TRUE(picture_hints("p", still, false).empty());
  Picture animated = still;
  animated.frames = 12;
  EXPECT_TRUE(says(picture_hints("p", animated, false),
                   "p: an animation of 12 frames, of which only the first is read"));
}

TEST_F(InputHints, NameTheQualityOfACoarseJpeg) {
  Picture picture{.pixels = at::zeros({3, 2, 2}, at::kByte), .jpeg_quality = 75};
  EXPECT_TRUE(says(picture_hints("p", picture, false), "p: a JPEG of quality 75 (estimated; 92"));
  EXPECT_TRUE(says(picture_hints("p", picture, true), "use a PNG"));
  picture.jpeg_quality = 92;
  EXPECT_TRUE(picture_hints("p", picture, false).empty());
}

TEST_F(InputHints, RecogniseTransparentPixelsThatAreNoMask) {
  const Tensor alpha = at::tensor({0, 127, 128, 255}, at::kByte).reshape({2, 2});
  const Picture picture{.pixels = at::zeros({3, 2, 2}, at::kByte), .alpha = alpha};
  EXPECT_TRUE(says(picture_hints("p", picture, false), "50% of its pixels are transparent"));
  EXPECT_TRUE(picture_hints("p", picture, true).empty());
}

TEST_F(InputHints, RecogniseCentredKSpace) {
  const Tensor image = at::ones({1, 1, 8, 6}, at::kDouble) + 0.1 * Rng(2).normal({1, 1, 8, 6});
  const Tensor first = at::view_as_real(at::fft_fft2(image)).contiguous(),
               centred = at::fft_fftshift(first, {{2, 3}});
  EXPECT_TRUE(kspace_hints("k", first, false).empty());
  EXPECT_TRUE(says(kspace_hints("k", centred, false), "k-space seems to be centred"));
  EXPECT_TRUE(kspace_hints("k", centred, true).empty());
  EXPECT_TRUE(says(kspace_hints("k", first, true), "declared as centred, but"));
}

}  // namespace
}  // namespace eps
