// The estimate of an image from noisy pixels that knows that neighbours are alike.
#include "eps/math/pyramid.h"

#include <array>

namespace eps {
namespace {

// Variances of a block's mean about that of the block around it, interpolated, in photographs in
// [-1, 1]: from pixels to blocks of 16 x 16. Those of 32 x 32 vary by kTop.
constexpr std::array kDetail = {kPixelDetail, 0.012, 0.015, 0.018, 0.024};
constexpr double kTop = 0.15;
static_assert(kPyramidBlock == 1 << kDetail.size());

// Returns the image with rows and columns of zeros up to whole blocks.
Tensor padded(const Tensor& image) {
  const auto missing = [](int64_t side) {
    return (kPyramidBlock - side % kPyramidBlock) % kPyramidBlock;
  };
  return at::constant_pad_nd(image, {0, missing(image.size(3)), 0, missing(image.size(2))});
}

Tensor sum_of_blocks(const Tensor& image) { return 4 * at::avg_pool2d(image, {2, 2}); }

Tensor twice_as_large(const Tensor& image) {
  return at::upsample_bilinear2d(image, {2 * image.size(2), 2 * image.size(3)}, false);
}

}  // namespace

Tensor pyramid_estimate(const Tensor& x, const Tensor& variance) {
  // Precision times estimate, and precision, level by level. Pixels beyond the image have none.
  std::vector<Tensor> precision = {padded(variance.to(x.scalar_type()).reciprocal().expand_as(x))};
  std::vector<Tensor> weighed = {padded(x) * precision[0]};
  for (const double detail : kDetail) {
    const Tensor kept = (1 + detail * precision.back()).reciprocal();
    weighed.push_back(sum_of_blocks(weighed.back() * kept));
    precision.push_back(sum_of_blocks(precision.back() * kept));
  }
  Tensor estimate = weighed.back() / (precision.back() + 1 / kTop);
  for (size_t level = kDetail.size(); level-- > 0;) {
    const double known = 1 / kDetail[level];
    estimate = (weighed[level] + known * twice_as_large(estimate)) / (precision[level] + known);
  }
  return estimate.slice(2, 0, x.size(2)).slice(3, 0, x.size(3));
}

}  // namespace eps
