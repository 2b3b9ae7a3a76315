// One pass computes the proximal map of inpainting, z + m (y - z) / (1 + lambda).
#include <ATen/Parallel.h>

#include "eps/math/kernels/dispatch.h"
#include "eps/math/kernels/kernels.h"

namespace eps::kernels {
namespace {

template <class Real>
EPS_INLINE void blend_plane(
    const Real* z, const Real* y, const uint8_t* mask, Real weight, Real* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = z[i] + (y[i] - z[i]) * (weight * static_cast<Real>(mask[i]));
}
EPS_FOR_EACH_CPU void blend(
    const float* z, const float* y, const uint8_t* mask, float weight, float* out, int64_t n) {
  blend_plane(z, y, mask, weight, out, n);
}
EPS_FOR_EACH_CPU void blend(
    const double* z, const double* y, const uint8_t* mask, double weight, double* out, int64_t n) {
  blend_plane(z, y, mask, weight, out, n);
}

template <class Real>
void run(const Tensor& z,
         const Tensor& y,
         const Tensor& mask,
         const std::vector<double>& lambda,
         const Tensor& out) {
  const int64_t channels = z.size(1), pixels = z.size(2) * z.size(3);
  const bool one_mask = mask.size(0) == 1;
  at::parallel_for(0,
                   z.size(0) * channels,
                   std::max<int64_t>(1, 65536 / pixels),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t plane = begin; plane < end; ++plane) {
                       const int64_t n = plane / channels, at = plane * pixels;
                       const double weight =
                           1 / (1 + lambda[lambda.size() == 1 ? 0 : static_cast<size_t>(n)]);
                       blend(z.data_ptr<Real>() + at,
                             y.data_ptr<Real>() + at,
                             mask.data_ptr<uint8_t>() + (one_mask ? 0 : n * pixels),
                             static_cast<Real>(weight),
                             out.data_ptr<Real>() + at,
                             pixels);
                     }
                   });
}

}  // namespace

bool plain(const Tensor& z, const Tensor& y, const Tensor& lambda, int64_t maps) {
  const auto tracked = [](const Tensor& x) {
    return c10::GradMode::is_enabled() && x.requires_grad();
  };
  const auto ordinary = [&](const Tensor& x) {
    return x.dim() == 4 && x.device().is_cpu() && x.is_contiguous() && !tracked(x) &&
           (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
  };
  if (!ordinary(z) || !ordinary(y) || z.scalar_type() != y.scalar_type() || tracked(lambda))
    return false;
  const int64_t images = z.size(0);
  const auto one_or_each = [images](int64_t count) { return count == 1 || count == images; };
  return z.numel() > 0 && y.size(0) == images && one_or_each(maps) && one_or_each(lambda.numel());
}

std::vector<double> values(const Tensor& lambda) {
  const Tensor numbers = lambda.to(at::kCPU, at::kDouble).contiguous();
  return {numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.numel()};
}

Tensor mask_proximal(const Tensor& z,
                     const Tensor& y,
                     const Tensor& mask,
                     const std::vector<double>& lambda) {
  const Tensor out = at::empty_like(z);
  if (z.scalar_type() == at::kFloat)
    run<float>(z, y, mask, lambda, out);
  else
    run<double>(z, y, mask, lambda, out);
  return out;
}

}  // namespace eps::kernels
