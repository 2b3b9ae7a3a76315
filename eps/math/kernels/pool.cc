// One pass computes the proximal map of average pooling, z + up(y - pool(z)) / (1 + s^2 lambda):
// each row of blocks is read once and still in cache when it is written.
#include <ATen/Parallel.h>

#include "eps/math/kernels/dispatch.h"
#include "eps/math/kernels/kernels.h"

namespace eps::kernels {
namespace {

// Corrects one row of `blocks` s x s blocks; S is s when known to the compiler, else 0. sums:
// blocks * s numbers.
template <int64_t S, class Real>
EPS_INLINE void correct_blocks(const Real* z,
                               const Real* y,
                               Real weight,
                               Real* out,
                               Real* sums,
                               int64_t blocks,
                               int64_t any_s) {
  const int64_t s = S ? S : any_s, width = blocks * s;
  for (int64_t j = 0; j < width; ++j) sums[j] = z[j];
  for (int64_t r = 1; r < s; ++r)
    for (int64_t j = 0; j < width; ++j) sums[j] += z[r * width + j];
  const Real share = Real{1} / static_cast<Real>(s * s);
  for (int64_t b = 0; b < blocks; ++b) {
    Real total = 0;
    for (int64_t k = 0; k < s; ++k) total += sums[b * s + k];
    const Real correction = weight * (y[b] - total * share);
    for (int64_t k = 0; k < s; ++k) sums[b * s + k] = correction;
  }
  for (int64_t r = 0; r < s; ++r)
    for (int64_t j = 0; j < width; ++j) out[r * width + j] = z[r * width + j] + sums[j];
}

template <class Real>
EPS_INLINE void correct_row(
    const Real* z, const Real* y, Real weight, Real* out, Real* sums, int64_t blocks, int64_t s) {
  switch (s) {
    case 2:
      return correct_blocks<2>(z, y, weight, out, sums, blocks, s);
    case 4:
      return correct_blocks<4>(z, y, weight, out, sums, blocks, s);
    case 8:
      return correct_blocks<8>(z, y, weight, out, sums, blocks, s);
    case 16:
      return correct_blocks<16>(z, y, weight, out, sums, blocks, s);
    default:
      return correct_blocks<0>(z, y, weight, out, sums, blocks, s);
  }
}
EPS_FOR_EACH_CPU void correct(const float* z,
                              const float* y,
                              float weight,
                              float* out,
                              float* sums,
                              int64_t blocks,
                              int64_t s) {
  correct_row(z, y, weight, out, sums, blocks, s);
}
EPS_FOR_EACH_CPU void correct(const double* z,
                              const double* y,
                              double weight,
                              double* out,
                              double* sums,
                              int64_t blocks,
                              int64_t s) {
  correct_row(z, y, weight, out, sums, blocks, s);
}

template <class Real>
void run(const Tensor& z,
         const Tensor& y,
         int64_t s,
         const std::vector<double>& lambda,
         const Tensor& out) {
  const int64_t rows = y.size(2), blocks = y.size(3), rows_per_image = y.size(1) * rows;
  const int64_t stripe = s * s * blocks;  // pixels in a row of blocks
  at::parallel_for(0,
                   y.size(0) * rows_per_image,
                   std::max<int64_t>(1, 65536 / stripe),
                   [&](int64_t begin, int64_t end) {
                     std::vector<Real> sums(static_cast<size_t>(s * blocks));
                     for (int64_t i = begin; i < end; ++i) {
                       const auto n = static_cast<size_t>(i / rows_per_image);
                       const double weight = 1 / (1 + static_cast<double>(s * s) *
                                                          lambda[lambda.size() == 1 ? 0 : n]);
                       correct(z.data_ptr<Real>() + i * stripe,
                               y.data_ptr<Real>() + i * blocks,
                               static_cast<Real>(weight),
                               out.data_ptr<Real>() + i * stripe,
                               sums.data(),
                               blocks,
                               s);
                     }
                   });
}

}  // namespace

Tensor pool_proximal(const Tensor& z,
                     const Tensor& y,
                     int64_t s,
                     const std::vector<double>& lambda) {
  const Tensor out = at::empty_like(z);
  if (z.scalar_type() == at::kFloat)
    run<float>(z, y, s, lambda, out);
  else
    run<double>(z, y, s, lambda, out);
  return out;
}

}  // namespace eps::kernels
