// The complex Fourier transform runs on many columns at once, in place, for lengths that are powers
// of 2.
//
// The algorithm is radix 4 with decimation in frequency, on 64-byte vectors. forward() leaves its
// output in a shuffled order that backward() undoes; neither reorders.
#pragma once

#include <cstring>
#include <numbers>
#include <utility>

#include "eps/base/core.h"
#include "eps/math/kernels/dispatch.h"

namespace eps::kernels {

// A 64-byte `Vector` holds the columns that are transformed together.
template <class Real>
struct VectorOf {
  typedef Real type __attribute__((vector_size(64), may_alias));
};
template <class Real>
using Vector = typename VectorOf<Real>::type;
template <class Real>
constexpr int64_t kLanes = 64 / sizeof(Real);

// Returns exp(-2 pi i k/n) for k = 0 ... n - 1, (2, n) in float64: cosines, then minus sines.
inline Tensor twiddles(int64_t n) {
  const Tensor angle =
      at::arange(n, at::kDouble) * (-2 * std::numbers::pi / static_cast<double>(n));
  return at::stack({angle.cos(), angle.sin()});
}

// Returns the frequency that stands at each place after forward(): block q of a radix-r stage holds
// the frequencies q modulo r.
inline std::vector<int64_t> output_order(int64_t n) {
  if (n == 1) return {0};
  const int64_t radix = n % 4 == 0 ? 4 : 2;
  const auto inner = output_order(n / radix);
  std::vector<int64_t> order;
  for (int64_t q = 0; q < radix; ++q)
    for (const int64_t k : inner) order.push_back(q + radix * k);
  return order;
}

// Takes one stage of decimation in frequency, in place, on each block of `length` of n rows of
// complex vectors. w: the n cosines and n sines of twiddles(); stride = n / length scales their
// index.
template <class Real>
EPS_INLINE void forward_stage4(
    Vector<Real>* re, Vector<Real>* im, const Real* w, int64_t n, int64_t length) {
  const int64_t step = length / 4, stride = n / length;
  const Real *c = w, *s = w + n;
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

// Inverts forward_stage4, times 4: conjugate twiddles first, then the butterfly.
template <class Real>
EPS_INLINE void backward_stage4(
    Vector<Real>* re, Vector<Real>* im, const Real* w, int64_t n, int64_t length) {
  const int64_t step = length / 4, stride = n / length;
  const Real *c = w, *s = w + n;
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

// Takes the last stage when n is not a power of 4, on pairs of neighbouring rows, the same there
// and back.
template <class Real>
EPS_INLINE void stage2(Vector<Real>* x, int64_t n) {
  for (int64_t i = 0; i < n; i += 2) {
    const Vector<Real> sum = x[i] + x[i + 1], difference = x[i] - x[i + 1];
    x[i] = sum;
    x[i + 1] = difference;
  }
}

template <class Real>
EPS_INLINE void forward(Vector<Real>* re, Vector<Real>* im, const Real* w, int64_t n) {
  int64_t length = n;
  for (; length >= 4; length /= 4) forward_stage4<Real>(re, im, w, n, length);
  if (length == 2) {
    stage2<Real>(re, n);
    stage2<Real>(im, n);
  }
}

template <class Real>
EPS_INLINE void backward(Vector<Real>* re, Vector<Real>* im, const Real* w, int64_t n) {
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

// Copies kLanes columns of a plane to a block of vectors, and back.
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

// Copies a block of `rows` vectors to kLanes rows of a plane of that width, and back.
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

}  // namespace eps::kernels
