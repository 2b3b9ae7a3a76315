// Structural similarity through separable Gaussian windows, in float64.
#include "eps/metrics/ssim.h"

#include "eps/metrics/ensemble.h"
#include "eps/metrics/metric.h"

namespace eps {
namespace {

constexpr double kStd = 1.5;
constexpr double kC1 = 0.01 * 0.01, kC2 = 0.03 * 0.03;  // (k1 L)^2, (k2 L)^2 with the range L = 1

// Returns Gaussian means of (P, 1, H, W) over the windows that lie inside it.
Tensor windowed(const Tensor& planes) {
  const Tensor offset = at::arange(kSsimWindow, planes.options()) - (kSsimWindow - 1) / 2;
  const Tensor bell = (-offset.square() / (2 * kStd * kStd)).exp();
  const Tensor weights = bell / bell.sum();
  return at::conv2d(at::conv2d(planes, weights.reshape({1, 1, kSsimWindow, 1})),
                    weights.reshape({1, 1, 1, kSsimWindow}));
}

Tensor unit_range(const Tensor& images) { return (images.to(at::kDouble).clamp(-1, 1) + 1) / 2; }

// Returns the SSIM of one image (C, H, W) in [0, 1]: a 0-dimensional tensor.
Tensor ssim_of_image(const Tensor& a, const Tensor& b, SsimBorder border) {
  const bool mirrored = border == SsimBorder::reflect;
  Tensor planes = at::cat({a, b, a * a, b * b, a * b}).unsqueeze(1);
  // The mirror image of a product is the product of the mirror images.
  if (mirrored) {
    constexpr int64_t reach = kSsimWindow / 2;
    planes = at::reflection_pad2d(planes, {reach, reach, reach, reach});
  }
  const auto moment = windowed(planes).chunk(5);
  const Tensor &mean_a = moment[0], &mean_b = moment[1];
  Tensor variance_a = moment[2] - mean_a.square(), variance_b = moment[3] - mean_b.square();
  const Tensor covariance = moment[4] - mean_a * mean_b;
  // Rounding can make variances negative where an image is flat; implementations that mirror clamp
  // them.
  if (mirrored) {
    variance_a = variance_a.clamp_min(0);
    variance_b = variance_b.clamp_min(0);
  }
  return ((2 * mean_a * mean_b + kC1) * (2 * covariance + kC2) /
          ((mean_a.square() + mean_b.square() + kC1) * (variance_a + variance_b + kC2)))
      .mean();
}

}  // namespace

Tensor ssim(const Tensor& images, const Tensor& truth, SsimBorder border) {
  check(images.dim() >= 3 && truth.dim() >= 3 && images.size(-1) >= kSsimWindow &&
            images.size(-2) >= kSsimWindow,
        "ssim: images must be ... x C x H x W, at least ",
        kSsimWindow,
        " x ",
        kSsimWindow,
        " pixels as its window, got ",
        to_string(images.sizes()));
  const int64_t C = images.size(-3), H = images.size(-2), W = images.size(-1);
  const Tensor a = images.reshape({-1, C, H, W});
  const Tensor b = truth.expand_as(images).reshape({-1, C, H, W});
  // One by one: five float64 planes a channel are a lot of memory for a batch.
  std::vector<Tensor> values;
  for (int64_t n = 0; n < a.size(0); ++n) {
    values.push_back(ssim_of_image(unit_range(a[n]), unit_range(b[n]), border));
  }
  return at::stack(values).reshape(images.sizes().slice(0, images.dim() - 3));
}

EPS_METRICS(
    20,
    {{.name = "ssim",
      .label = "SSIM",
      .help = "structural similarity of a sample, windows inside the image; 1 is perfect",
      .better = Better::higher,
      .needs = {.side = kSsimWindow},
      .per_image = [](const Ensemble& e) { return ssim(e.samples, e.truth).mean(0); }},
     {.name = "ssim_reflect",
      .label = "SSIM reflect",
      .help = "structural similarity of a sample, the image mirrored at its edges; 1 is perfect",
      .better = Better::higher,
      .needs = {.side = kSsimWindow},
      .per_image =
          [](const Ensemble& e) { return ssim(e.samples, e.truth, SsimBorder::reflect).mean(0); }},
     {.name = "ssim_of_mean",
      .label = "SSIM of mean",
      .help = "SSIM of the mean of an image's samples",
      .better = Better::higher,
      .needs = {.side = kSsimWindow},
      .per_image = [](const Ensemble& e) { return ssim(e.samples.mean(0), e.truth); }}});

}  // namespace eps
