// Circular convolution: the proximal map as one complex transform there and one back.
//
// With a = lambda/(|h|^2 + lambda) and b = conj(h)/(|h|^2 + lambda) the answer is F^{-1}(a z_hat +
// b y_hat). Both a and b are transforms of real kernels, so it is the real part of F^{-1}((a - i b)
// F(z + i y)): z and y travel as one complex image. The transform forward leaves its output in a
// shuffled order that the one back undoes, and nothing in between cares; so neither ever reorders.
#include <ATen/Parallel.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "eps/kernels/dispatch.h"
#include "eps/kernels/kernels.h"

namespace eps::kernels {
namespace {

// A 64-byte vector: so many columns are transformed together.
template <class Real>
struct VectorOf {
  typedef Real type __attribute__((vector_size(64), may_alias));
};
template <class Real>
using Vector = typename VectorOf<Real>::type;
template <class Real>
constexpr int64_t kLanes = 64 / sizeof(Real);

// w[i] = exp(-2 pi i k/n) for k = 0 ... n - 1: cosines, then minus sines.
template <class Real>
struct Twiddles {
  explicit Twiddles(int64_t n) : cosine(static_cast<size_t>(n)), sine(static_cast<size_t>(n)) {
    for (int64_t k = 0; k < n; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      cosine[static_cast<size_t>(k)] = static_cast<Real>(std::cos(angle));
      sine[static_cast<size_t>(k)] = static_cast<Real>(std::sin(angle));
    }
  }
  std::vector<Real> cosine, sine;
};

// The frequency that stands at each place after forward(): block q of a radix-r stage holds the
// frequencies q modulo r.
std::vector<int64_t> output_order(int64_t n) {
  if (n == 1) return {0};
  const int64_t radix = n % 4 == 0 ? 4 : 2;
  const auto inner = output_order(n / radix);
  std::vector<int64_t> order;
  for (int64_t q = 0; q < radix; ++q)
    for (const int64_t k : inner) order.push_back(q + radix * k);
  return order;
}

// In place on n rows of complex vectors: one stage of decimation in frequency on each block of
// `length` rows. stride = n / length scales the twiddles' index.
template <class Real>
EPS_INLINE void forward_stage4(
    Vector<Real>* re, Vector<Real>* im, const Twiddles<Real>& w, int64_t n, int64_t length) {
  const int64_t step = length / 4, stride = n / length;
  const Real *c = w.cosine.data(), *s = w.sine.data();
  for (int64_t block = 0; block < n; block += length) {
    for (int64_t i = 0; i < step; ++i) {
      Vector<Real>*r = re + block + i, *m = im + block + i;
      const int64_t k = i * stride;
      const Vector<Real> ar = r[0] + r[2 * step], am = m[0] + m[2 * step];
      const Vector<Real> br = r[0] - r[2 * step], bm = m[0] - m[2 * step];
      const Vector<Real> cr = r[step] + r[3 * step], cm = m[step] + m[3 * step];
      const Vector<Real> dr = m[step] - m[3 * step], dm = r[3 * step] - r[step];  // -i (x1 - x3)
      const Vector<Real> t1r = br + dr, t1m = bm + dm, t2r = ar - cr, t2m = am - cm, t3r = br - dr,
                         t3m = bm - dm;
      r[0] = ar + cr;
      m[0] = am + cm;
      r[step] = t1r * c[k] - t1m * s[k];
      m[step] = t1r * s[k] + t1m * c[k];
      r[2 * step] = t2r * c[2 * k] - t2m * s[2 * k];
      m[2 * step] = t2r * s[2 * k] + t2m * c[2 * k];
      r[3 * step] = t3r * c[3 * k] - t3m * s[3 * k];
      m[3 * step] = t3r * s[3 * k] + t3m * c[3 * k];
    }
  }
}

// The inverse of forward_stage4, times 4: conjugate twiddles first, then the butterfly.
template <class Real>
EPS_INLINE void backward_stage4(
    Vector<Real>* re, Vector<Real>* im, const Twiddles<Real>& w, int64_t n, int64_t length) {
  const int64_t step = length / 4, stride = n / length;
  const Real *c = w.cosine.data(), *s = w.sine.data();
  for (int64_t block = 0; block < n; block += length) {
    for (int64_t i = 0; i < step; ++i) {
      Vector<Real>*r = re + block + i, *m = im + block + i;
      const int64_t k = i * stride;
      const Vector<Real> r1 = r[step] * c[k] + m[step] * s[k], m1 = m[step] * c[k] - r[step] * s[k];
      const Vector<Real> r2 = r[2 * step] * c[2 * k] + m[2 * step] * s[2 * k];
      const Vector<Real> m2 = m[2 * step] * c[2 * k] - r[2 * step] * s[2 * k];
      const Vector<Real> r3 = r[3 * step] * c[3 * k] + m[3 * step] * s[3 * k];
      const Vector<Real> m3 = m[3 * step] * c[3 * k] - r[3 * step] * s[3 * k];
      const Vector<Real> ar = r[0] + r2, am = m[0] + m2, br = r[0] - r2, bm = m[0] - m2;
      const Vector<Real> cr = r1 + r3, cm = m1 + m3, dr = m3 - m1, dm = r1 - r3;  // i (x1 - x3)
      r[0] = ar + cr;
      m[0] = am + cm;
      r[step] = br + dr;
      m[step] = bm + dm;
      r[2 * step] = ar - cr;
      m[2 * step] = am - cm;
      r[3 * step] = br - dr;
      m[3 * step] = bm - dm;
    }
  }
}

// The last stage when n is not a power of 4: pairs of neighbouring rows, the same there and back.
template <class Real>
EPS_INLINE void stage2(Vector<Real>* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 2) {
    const Vector<Real> sum = x[i] + x[i + 1], difference = x[i] - x[i + 1];
    x[i] = sum;
    x[i + 1] = difference;
  }
}

template <class Real>
EPS_INLINE void forward(Vector<Real>* re, Vector<Real>* im, const Twiddles<Real>& w, int64_t n) {
  int64_t length = n;
  for (; length >= 4; length /= 4) forward_stage4<Real>(re, im, w, n, length);
  if (length == 2) {
    stage2<Real>(re, n);
    stage2<Real>(im, n);
  }
}

template <class Real>
EPS_INLINE void backward(Vector<Real>* re, Vector<Real>* im, const Twiddles<Real>& w, int64_t n) {
  int64_t length = 1;
  while (length < n) length *= 4;
  const bool power_of_four = length == n;
  if (!power_of_four) {
    stage2<Real>(re, n);
    stage2<Real>(im, n);
  }
  for (length = power_of_four ? 4 : 8; length <= n; length *= 4)
    backward_stage4<Real>(re, im, w, n, length);
}

// Interleaves the lower and the upper halves of a and b.
template <class Real, int... I>
EPS_INLINE void interleave(const Vector<Real>& a,
                           const Vector<Real>& b,
                           Vector<Real>& low,
                           Vector<Real>& high,
                           std::integer_sequence<int, I...>) {
  constexpr int lanes = static_cast<int>(kLanes<Real>);
  low = __builtin_shufflevector(a, b, (I / 2 + (I % 2) * lanes)...);
  high = __builtin_shufflevector(a, b, (lanes / 2 + I / 2 + (I % 2) * lanes)...);
}

// Transposes a square of kLanes x kLanes: log2(kLanes) rounds of interleaving its two halves.
template <class Real>
EPS_INLINE void transpose(const Vector<Real>* in, Vector<Real>* out) {
  constexpr int64_t lanes = kLanes<Real>;
  Vector<Real> a[lanes], b[lanes];
  for (int64_t i = 0; i < lanes; ++i) a[i] = in[i];
  for (int64_t width = 1; width < lanes; width *= 2) {
    for (int64_t i = 0; i < lanes / 2; ++i)
      interleave<Real>(a[i],
                       a[i + lanes / 2],
                       b[2 * i],
                       b[2 * i + 1],
                       std::make_integer_sequence<int, static_cast<int>(lanes)>());
    for (int64_t i = 0; i < lanes; ++i) a[i] = b[i];
  }
  for (int64_t i = 0; i < lanes; ++i) out[i] = a[i];
}

// kLanes columns of a plane as a block of vectors: and back.
template <class Real>
EPS_INLINE void load(const Real* plane, int64_t stride, int64_t rows, Vector<Real>* block) {
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(&block[i], plane + i * stride, sizeof(Vector<Real>));
}
template <class Real>
EPS_INLINE void store(const Vector<Real>* block, int64_t stride, int64_t rows, Real* plane) {
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(plane + i * stride, &block[i], sizeof(Vector<Real>));
}

// A block of `rows` vectors to kLanes rows of a plane of that width: and back.
template <class Real>
EPS_INLINE void store_transposed(const Vector<Real>* block, int64_t rows, Real* plane) {
  constexpr int64_t lanes = kLanes<Real>;
  Vector<Real> square[lanes];
  for (int64_t i = 0; i < rows; i += lanes) {
    transpose<Real>(block + i, square);
    store(square, rows, lanes, plane + i);
  }
}
template <class Real>
EPS_INLINE void load_transposed(const Real* plane, int64_t rows, Vector<Real>* block) {
  constexpr int64_t lanes = kLanes<Real>;
  Vector<Real> square[lanes];
  for (int64_t i = 0; i < rows; i += lanes) {
    load(plane + i, rows, lanes, square);
    transpose<Real>(square, block + i);
  }
}

template <class Real>
struct Workspace {
  Workspace(int64_t h, int64_t w) : rows(h), columns(w) {
    const auto dtype = c10::CppTypeToScalarType<Real>::value;
    spectra = at::empty({2, h * w}, dtype);
    // Rounded up to whole squares, which transpose() reads and writes. Tensors are aligned to 64
    // bytes.
    blocks = at::empty({2, std::max({h, w, kLanes<Real>}) * kLanes<Real>}, dtype);
    spectrum_re = spectra.template data_ptr<Real>();
    spectrum_im = spectrum_re + h * w;
    re = reinterpret_cast<Vector<Real>*>(blocks.template data_ptr<Real>());
    im = re + blocks.size(1) / kLanes<Real>;
  }
  Tensor spectra, blocks;
  Real *spectrum_re, *spectrum_im;  // W x H
  Vector<Real>*re, *im;             // a block of columns
  Twiddles<Real> rows, columns;
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

// hr, hi: the transfer function in the order of the spectrum, W x H.
template <class Real>
EPS_INLINE void solve(const Real* z,
                      const Real* y,
                      const Real* hr,
                      const Real* hi,
                      double lambda,
                      Real* out,
                      Workspace<Real>& ws,
                      int64_t h,
                      int64_t w) {
  constexpr int64_t lanes = kLanes<Real>;
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
      multiply(
          re[i], im[i], hr + i * h + column, hi + i * h + column, static_cast<Real>(lambda), scale);
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
EPS_FOR_EACH_CPU void solve_plane(const float* z,
                                  const float* y,
                                  const float* hr,
                                  const float* hi,
                                  double lambda,
                                  float* out,
                                  Workspace<float>& ws,
                                  int64_t h,
                                  int64_t w) {
  solve(z, y, hr, hi, lambda, out, ws, h, w);
}
EPS_FOR_EACH_CPU void solve_plane(const double* z,
                                  const double* y,
                                  const double* hr,
                                  const double* hi,
                                  double lambda,
                                  double* out,
                                  Workspace<double>& ws,
                                  int64_t h,
                                  int64_t w) {
  solve(z, y, hr, hi, lambda, out, ws, h, w);
}

template <class Real>
void run(const Tensor& z,
         const Tensor& y,
         const Tensor& transfer,
         const std::vector<double>& lambda,
         const Tensor& out) {
  const int64_t channels = z.size(1), h = z.size(2), w = z.size(3), pixels = h * w,
                kernels = transfer.size(1);
  at::parallel_for(0, z.size(0) * channels, 1, [&](int64_t begin, int64_t end) {
    Workspace<Real> workspace(h, w);
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t n = plane / channels, at = plane * pixels;
      const Real* hr = transfer.data_ptr<Real>() + (kernels == 1 ? 0 : n * pixels);
      solve_plane(z.data_ptr<Real>() + at,
                  y.data_ptr<Real>() + at,
                  hr,
                  hr + kernels * pixels,
                  lambda[lambda.size() == 1 ? 0 : static_cast<size_t>(n)],
                  out.data_ptr<Real>() + at,
                  workspace,
                  h,
                  w);
    }
  });
}

}  // namespace

bool CircularProximal::supports(int64_t height, int64_t width) {
  const auto power_of_two = [](int64_t n) { return n >= kLanes<float> && (n & (n - 1)) == 0; };
  return power_of_two(height) && power_of_two(width);
}

CircularProximal::CircularProximal(const Tensor& transfer) {
  const auto rows = at::tensor(output_order(transfer.size(2)), at::kLong);
  const auto columns = at::tensor(output_order(transfer.size(3)), at::kLong);
  const Tensor shuffled =
      transfer.cpu().squeeze(1).index_select(1, rows).index_select(2, columns).transpose(1, 2);
  double_ = at::stack({at::real(shuffled), at::imag(shuffled)}).contiguous();
  float_ = double_.to(at::kFloat);
}

Tensor CircularProximal::operator()(const Tensor& z,
                                    const Tensor& y,
                                    const std::vector<double>& lambda) const {
  const Tensor out = at::empty_like(z);
  if (z.scalar_type() == at::kFloat)
    run<float>(z, y, float_, lambda, out);
  else
    run<double>(z, y, double_, lambda, out);
  return out;
}

}  // namespace eps::kernels
