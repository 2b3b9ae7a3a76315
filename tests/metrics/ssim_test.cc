// PSNR and SSIM against recorded values of other implementations and slow direct loops.
#include "eps/metrics/ssim.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/base/random.h"
#include "eps/io/images/image.h"
#include "eps/io/safetensors.h"
#include "eps/metrics/psnr.h"
#include "tests/files.h"
#include "tests/shared.h"

namespace eps {
namespace {

// Clipped, in [0, 1]; indices outside the image are mirrored without repeating the edge.
double pixel(const Tensor& image, int64_t c, int64_t i, int64_t j) {
  const auto mirrored = [](int64_t index, int64_t size) {
    if (index < 0) index = -index;
    return index < size ? index : 2 * (size - 1) - index;
  };
  const double value =
      image[c][mirrored(i, image.size(1))][mirrored(j, image.size(2))].item<double>();
  return (std::min(1.0, std::max(-1.0, value)) + 1) / 2;
}

// SSIM at the window centred at (i, j), moments by their definition.
double ssim_at(const Tensor& a, const Tensor& b, int64_t c, int64_t i, int64_t j) {
  double total = 0, mean_a = 0, mean_b = 0, var_a = 0, var_b = 0, covariance = 0;
  const auto over_window = [&](const auto& visit) {
    for (int64_t di = -5; di <= 5; ++di) {
      for (int64_t dj = -5; dj <= 5; ++dj) {
        const double weight = std::exp(-static_cast<double>(di * di + dj * dj) / (2 * 1.5 * 1.5));
        visit(weight, pixel(a, c, i + di, j + dj), pixel(b, c, i + di, j + dj));
      }
    }
  };
  over_window([&](double w, double p, double q) {
    total += w;
    mean_a += w * p;
    mean_b += w * q;
  });
  mean_a /= total;
  mean_b /= total;
  over_window([&](double w, double p, double q) {
    var_a += w / total * (p - mean_a) * (p - mean_a);
    var_b += w / total * (q - mean_b) * (q - mean_b);
    covariance += w / total * (p - mean_a) * (q - mean_b);
  });
  return (2 * mean_a * mean_b + 1e-4) * (2 * covariance + 9e-4) /
         ((mean_a * mean_a + mean_b * mean_b + 1e-4) * (var_a + var_b + 9e-4));
}

double slow_ssim(const Tensor& a, const Tensor& b, int64_t margin) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t c = 0; c < a.size(0); ++c) {
    for (int64_t i = margin; i < a.size(1) - margin; ++i) {
      for (int64_t j = margin; j < a.size(2) - margin; ++j, ++count) sum += ssim_at(a, b, c, i, j);
    }
  }
  return sum / static_cast<double>(count);
}

struct Pair {
  Tensor a, b;
};
// Correlated images that leave [-1, 1] here and there.
Pair images(const Shape& shape) {
  Rng rng(4);
  const Tensor a = 0.6 * rng.normal(shape);
  return {a, a + 0.3 * rng.normal(shape)};
}

TEST(Ssim, IsTheSumOverWindowsForBothBorders) {
  const auto [a, b] = images({2, 2, 12, 15});
  const Tensor valid = ssim(a, b), reflect = ssim(a, b, SsimBorder::reflect);
  for (int64_t n = 0; n < 2; ++n) {
    EXPECT_NEAR(valid[n].item<double>(), slow_ssim(a[n], b[n], 5), 1e-12);
    EXPECT_NEAR(reflect[n].item<double>(), slow_ssim(a[n], b[n], 0), 1e-12);
  }
}

TEST(Ssim, PsnrAndSsimEqualTheRecordedOnes) {
  const std::string path = shared_file("reference/metrics.safetensors");
  if (path.empty()) GTEST_SKIP() << "no reference/metrics.safetensors";
  const auto recorded = read_safetensors(path).tensors;
  const Tensor a = from_uint8(recorded.at("a")), b = from_uint8(recorded.at("b"));
  const auto difference = [&](const Tensor& value, const char* name) {
    const double largest = (value - recorded.at(name)).abs().max().item<double>();
    RecordProperty(name, std::to_string(largest));
    return largest;
  };
  EXPECT_LT(difference(psnr(a, b), "psnr"), 1e-6);
  EXPECT_LT(difference(ssim(a, b), "ssim_valid"), 1e-6);
}

TEST(Ssim, OfAnImageWithItselfIsOneEvenIfFlat) {
  const Tensor a = images({2, 3, 16, 16}).a;
  for (const SsimBorder border : {SsimBorder::valid, SsimBorder::reflect}) {
    EXPECT_TRUE(ssim(a, a, border).allclose(at::ones({2}, at::kDouble), 0, 1e-12));
    const Tensor flat = at::full({1, 3, 16, 16}, 0.3);
    EXPECT_TRUE(ssim(flat, flat, border).allclose(at::ones({1}, at::kDouble), 0, 1e-12));
  }
}

TEST(Ssim, OneTruthServesManySamplesAndAnyChunk) {
  const auto [a, b] = images({3, 2, 1, 16, 16});
  const Tensor all = ssim(a, b[0]);
  ASSERT_EQ(all.sizes().vec(), Shape({3, 2}));
  for (int64_t s = 0; s < 3; ++s) {
    for (int64_t n = 0; n < 2; ++n) {
      EXPECT_EQ(all[s][n].item<double>(), ssim(a[s][n], b[0][n]).item<double>());
    }
  }
}

TEST(Ssim, ImagesSmallerThanTheWindowAreRefused) {
  const Tensor small = at::zeros({1, 3, 10, 64});
  EXPECT_NE(error_of([&] { ssim(small, small); }).find("11 x 11"), std::string::npos);
  EXPECT_THROW(ssim(small, small, SsimBorder::reflect), Error);
  EXPECT_THROW(ssim(at::zeros({64, 64}), at::zeros({64, 64})), Error);
}

}  // namespace
}  // namespace eps
