// One complex transform there and one back compute the proximal map of circular convolution.
//
// With a = lambda/(|h|^2 + lambda) and b = conj(h)/(|h|^2 + lambda) the answer is F^{-1}(a z_hat +
// b y_hat). Both a and b are transforms of real kernels, so the answer is the real part of
// F^{-1}((a - i b) F(z + i y)): z and y travel as one complex image. The transform forward leaves
// its output in a shuffled order that the transform back undoes, and the work in between is the
// same in any order; so neither ever reorders.
#include <ATen/Parallel.h>

#include <cmath>

#include "eps/math/kernels/kernels.h"
#include "eps/math/kernels/transform.h"

namespace eps::kernels {
namespace {

// A `Workspace` holds the size, the twiddles and the memory with which a thread solves its planes.
template <class Real>
struct Workspace {
  Workspace(const Tensor& row_twiddles, const Tensor& column_twiddles)
      : h(row_twiddles.size(1)),
        w(column_twiddles.size(1)),
        rows(row_twiddles.data_ptr<Real>()),
        columns(column_twiddles.data_ptr<Real>()),
        memory(at::empty({2 * h * w + 2 * std::max(h, w) * kLanes<Real>}, row_twiddles.options())),
        spectrum_re(memory.data_ptr<Real>()),
        spectrum_im(spectrum_re + h * w),
        re(reinterpret_cast<Vector<Real>*>(spectrum_im + h * w)),
        im(re + std::max(h, w)) {}
  const int64_t h, w;
  const Real *rows, *columns;
  const Tensor memory;                          // aligned to 64 bytes, as all tensors are
  Real *const spectrum_re, *const spectrum_im;  // W x H
  Vector<Real>*const re, *const im;             // a block of columns
};

// Multiplies a vector of frequencies by (a - i b) / (H W).
template <class Real>
EPS_INLINE void multiply(
    Vector<Real>& re, Vector<Real>& im, const Real* hr, const Real* hi, Real lambda, Real scale) {
  Vector<Real> xr, xi;
  std::memcpy(&xr, hr, sizeof(xr));
  std::memcpy(&xi, hi, sizeof(xi));
  const Vector<Real> power = xr * xr + xi * xi, zero = {}, one = zero + Real{1};
  const Vector<Real> outside =
      power == zero ? one : zero;  // there a = 1 and b = 0, whatever lambda is
  const Vector<Real> over = scale / (power + lambda + outside);
  // lambda may be infinite in this type: then a = 1 and b = 0.
  const Vector<Real> a = std::isinf(lambda) ? zero + scale : (lambda + outside) * over;
  const Vector<Real> gr = a - xi * over, gi = -xr * over;
  const Vector<Real> cr = re, ci = im;
  re = gr * cr - gi * ci;
  im = gr * ci + gi * cr;
}

// Solves one plane. hr, hi: the transfer function in the order of the spectrum, W x H.
template <class Real>
EPS_INLINE void solve_plane(const Real* z,
                            const Real* y,
                            const Real* hr,
                            const Real* hi,
                            Real lambda,
                            Real* out,
                            const Workspace<Real>& ws) {
  constexpr int64_t lanes = kLanes<Real>;
  const int64_t h = ws.h, w = ws.w;
  Vector<Real>*re = ws.re, *im = ws.im;
  for (int64_t column = 0; column < w; column += lanes) {
    load(z + column, w, h, re);
    load(y + column, w, h, im);
    forward<Real>(re, im, ws.rows, h);
    store_transposed(re, h, ws.spectrum_re + column * h);
    store_transposed(im, h, ws.spectrum_im + column * h);
  }
  const auto scale = static_cast<Real>(1 / static_cast<double>(h * w));
  for (int64_t column = 0; column < h; column += lanes) {
    load(ws.spectrum_re + column, h, w, re);
    load(ws.spectrum_im + column, h, w, im);
    forward<Real>(re, im, ws.columns, w);
    for (int64_t i = 0; i < w; ++i)
      multiply(re[i], im[i], hr + i * h + column, hi + i * h + column, lambda, scale);
    backward<Real>(re, im, ws.columns, w);
    store(re, h, w, ws.spectrum_re + column);
    store(im, h, w, ws.spectrum_im + column);
  }
  for (int64_t column = 0; column < w; column += lanes) {
    load_transposed(ws.spectrum_re + column * h, h, re);
    load_transposed(ws.spectrum_im + column * h, h, im);
    backward<Real>(re, im, ws.rows, h);
    store(re, w, h, out + column);
  }
}
EPS_FOR_EACH_CPU void solve(const float* z,
                            const float* y,
                            const float* hr,
                            const float* hi,
                            float lambda,
                            float* out,
                            const Workspace<float>& ws) {
  solve_plane(z, y, hr, hi, lambda, out, ws);
}
EPS_FOR_EACH_CPU void solve(const double* z,
                            const double* y,
                            const double* hr,
                            const double* hi,
                            double lambda,
                            double* out,
                            const Workspace<double>& ws) {
  solve_plane(z, y, hr, hi, lambda, out, ws);
}

}  // namespace

bool CircularProximal::supports(int64_t height, int64_t width) {
  const auto power_of_two = [](int64_t n) { return n >= kLanes<float> && (n & (n - 1)) == 0; };
  return power_of_two(height) && power_of_two(width);
}

CircularProximal::CircularProximal(const Tensor& transfer) {
  const int64_t h = transfer.size(2), w = transfer.size(3);
  const auto rows = at::tensor(output_order(h), at::kLong);
  const auto columns = at::tensor(output_order(w), at::kLong);
  const Tensor shuffled =
      transfer.cpu().squeeze(1).index_select(1, rows).index_select(2, columns).transpose(1, 2);
  double_ = {
      at::stack({at::real(shuffled), at::imag(shuffled)}).contiguous(), twiddles(h), twiddles(w)};
  float_ = {
      double_.transfer.to(at::kFloat), double_.rows.to(at::kFloat), double_.columns.to(at::kFloat)};
}

template <class Real>
void CircularProximal::run(const Tables& tables,
                           const Tensor& z,
                           const Tensor& y,
                           const std::vector<double>& lambda,
                           const Tensor& out) {
  const int64_t channels = z.size(1), pixels = z.size(2) * z.size(3),
                kernels = tables.transfer.size(1);
  at::parallel_for(0, z.size(0) * channels, 1, [&](int64_t begin, int64_t end) {
    const Workspace<Real> workspace(tables.rows, tables.columns);
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t n = plane / channels, at = plane * pixels;
      const Real* hr = tables.transfer.data_ptr<Real>() + (kernels == 1 ? 0 : n * pixels);
      solve(z.data_ptr<Real>() + at,
            y.data_ptr<Real>() + at,
            hr,
            hr + kernels * pixels,
            static_cast<Real>(lambda[lambda.size() == 1 ? 0 : static_cast<size_t>(n)]),
            out.data_ptr<Real>() + at,
            workspace);
    }
  });
}

Tensor CircularProximal::operator()(const Tensor& z,
                                    const Tensor& y,
                                    const std::vector<double>& lambda) const {
  const Tensor out = at::empty_like(z);
  if (z.scalar_type() == at::kFloat)
    run<float>(float_, z, y, lambda, out);
  else
    run<double>(double_, z, y, lambda, out);
  return out;
}

}  // namespace eps::kernels
