// Power spectra at the frequencies of images of another size.
#include "eps/math/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>

namespace eps {
namespace {

// A spectrum that is a smooth function of the frequency in cycles per pixel, in the layout of
// rfft2.
Tensor smooth_spectrum(int64_t height, int64_t width) {
  const Tensor rows = at::arange(height, at::kDouble) / height * (2 * M_PI);
  const Tensor columns = at::arange(width / 2 + 1, at::kDouble) / width * (2 * M_PI);
  // Real images have the same power at (k, l) and (-k, -l); this one has another at (k, -l).
  return (at::cos(rows).unsqueeze(1) + at::cos(columns) +
          0.5 * at::sin(rows).unsqueeze(1) * at::sin(columns))
      .exp();
}

TEST(Spectrum, OfAnotherSizeIsTheSameFunctionOfFrequency) {
  const Tensor known = smooth_spectrum(128, 96);
  for (const auto& [height, width] : {std::pair{512, 384}, {300, 77}, {64, 48}, {129, 97}}) {
    const Tensor found = resampled_spectrum(known, height, width);
    const Tensor wanted = smooth_spectrum(height, width);
    ASSERT_EQ(found.sizes(), wanted.sizes());
    // Linear interpolation errs by an eighth of the curvature, below 2.5, times the step squared.
    const double step = 2 * M_PI / 96;
    EXPECT_LT((found / wanted).log().abs().max().item<double>(), 2 * 2.5 * step * step / 8)
        << height << " x " << width;
  }
  EXPECT_TRUE(resampled_spectrum(known, 128, 96).is_same(known));
}

}  // namespace
}  // namespace eps
