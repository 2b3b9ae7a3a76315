// The inner loops over channels-last pixels, compiled for the vectors of the machine at hand.
//
// They are plain C++ that the compiler vectorises. The library is built for any x86-64, so there
// each loop is compiled a second time for AVX2, and the better one is chosen at run time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace eps::nets::pixel_loops {

#define EPS_INLINED inline __attribute__((always_inline))
#ifdef __x86_64__
#define EPS_WIDE __attribute__((target("avx2,fma")))
inline bool wide_vectors() {
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return supported;
}
#else
#define EPS_WIDE
inline bool wide_vectors() { return false; }
#endif

// e^x for x in [-87, 87], to a relative 2e-7: 2^n e^r with |r| <= ln(2) / 2.
EPS_INLINED float fast_exp(float x) {
  const float shifted = x * 1.44269504f + 12582912.0f;  // 1.5 2^23 leaves n in the low bits
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const uint32_t exponent = std::bit_cast<uint32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(p) + exponent);
}

// x / (1 + e^-x). |x| is bounded by 87 as an integer, without a branch: the loops that call this
// would not be vectorised with one.
EPS_INLINED float silu(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto magnitude = static_cast<int32_t>(bits & 0x7fffffffu);
  const int32_t bounded = std::min(magnitude, std::bit_cast<int32_t>(87.0f));
  const uint32_t negated = ~bits & 0x80000000u;
  return x / (1.0f + fast_exp(std::bit_cast<float>(static_cast<uint32_t>(bounded) | negated)));
}

// `count` pixels of `channels` numbers each, one behind the other.
template <class Scalar>
struct Pixels {
  const Scalar* x;
  int64_t count, channels;
};

// Adds, per channel, x - pivot and its square over `rows` pixels; several at a time, since that
// spares the sums trips to memory.
template <int64_t rows, class Scalar>
EPS_INLINED void add_rows(const Scalar* __restrict x,
                          const float* __restrict pivot,
                          int64_t channels,
                          float* __restrict sum,
                          float* __restrict square) {
  for (int64_t c = 0; c < channels; ++c) {
    float s = 0, q = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float d = static_cast<float>(x[r * channels + c]) - pivot[c];
      s += d;
      q += d * d;
    }
    sum[c] += s;
    square[c] += q;
  }
}

// Adds to sums[0][c] all x - pivot, and to sums[1][c] their squares.
template <class Scalar>
EPS_INLINED void add_moments(Pixels<Scalar> in, const float* pivot, float* sums) {
  const int64_t c = in.channels;
  int64_t p = 0;
  for (; p + 8 <= in.count; p += 8) add_rows<8>(in.x + p * c, pivot, c, sums, sums + c);
  for (; p < in.count; ++p) add_rows<1>(in.x + p * c, pivot, c, sums, sums + c);
}

// y = act(x * line[0][c] + line[1][c]).
template <bool activate, class Scalar>
EPS_INLINED void map_pixels(Pixels<Scalar> in, const float* line, Scalar* out) {
  const float* __restrict slope = line;
  const float* __restrict intercept = line + in.channels;
  for (int64_t p = 0; p < in.count; ++p) {
    const Scalar* __restrict x = in.x + p * in.channels;
    Scalar* __restrict y = out + p * in.channels;
    for (int64_t c = 0; c < in.channels; ++c) {
      const float value = static_cast<float>(x[c]) * slope[c] + intercept[c];
      y[c] = static_cast<Scalar>(activate ? silu(value) : value);
    }
  }
}

// h = (h + x) * scale.
template <class Scalar>
EPS_INLINED void add_scaled(Pixels<Scalar> in, float scale, Scalar* out) {
  const Scalar* __restrict x = in.x;
  Scalar* __restrict h = out;
  for (int64_t i = 0; i < in.count * in.channels; ++i) {
    h[i] = static_cast<Scalar>((static_cast<float>(h[i]) + static_cast<float>(x[i])) * scale);
  }
}

template <class Scalar>
struct Loops {
  void (*add_moments)(Pixels<Scalar>, const float* pivot, float* sums);
  void (*map)(Pixels<Scalar>, const float* line, Scalar* out);
  void (*map_and_activate)(Pixels<Scalar>, const float* line, Scalar* out);
  void (*add_scaled)(Pixels<Scalar>, float scale, Scalar* out);
};

template <class Scalar>
Loops<Scalar> any_machine() {
  using P = Pixels<Scalar>;
  return {[](P in, const float* pivot, float* sums) { add_moments(in, pivot, sums); },
          [](P in, const float* line, Scalar* out) { map_pixels<false>(in, line, out); },
          [](P in, const float* line, Scalar* out) { map_pixels<true>(in, line, out); },
          [](P in, float scale, Scalar* out) { add_scaled(in, scale, out); }};
}

template <class Scalar>
Loops<Scalar> wide_machine() {
  using P = Pixels<Scalar>;
  return {[](P in, const float* pivot, float* sums) EPS_WIDE { add_moments(in, pivot, sums); },
          [](P in, const float* line, Scalar* out) EPS_WIDE { map_pixels<false>(in, line, out); },
          [](P in, const float* line, Scalar* out) EPS_WIDE { map_pixels<true>(in, line, out); },
          [](P in, float scale, Scalar* out) EPS_WIDE { add_scaled(in, scale, out); }};
}

template <class Scalar>
Loops<Scalar> best() {
  return wide_vectors() ? wide_machine<Scalar>() : any_machine<Scalar>();
}

#undef EPS_INLINED
#undef EPS_WIDE

}  // namespace eps::nets::pixel_loops
