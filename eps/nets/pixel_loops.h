// The inner loops over channels-last pixels, compiled for the vector instructions of the machine.
//
// The loops are plain C++ that the compiler vectorises. The library is built for any x86-64
// machine, so each loop is compiled a second time for AVX2 there, and the better version is chosen
// at run time.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
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

// Returns e^x for x in [-87, 87], to a relative 2e-7: 2^n e^r with |r| <= ln(2) / 2.
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

// Returns x / (1 + e^-x). |x| is bounded by 87 as an integer, without a branch, which would prevent
// the vectorisation of the calling loops.
EPS_INLINED float silu(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto magnitude = static_cast<int32_t>(bits & 0x7fffffffu);
  const int32_t bounded = std::min(magnitude, std::bit_cast<int32_t>(87.0f));
  const uint32_t negated = ~bits & 0x80000000u;
  return x / (1.0f + fast_exp(std::bit_cast<float>(static_cast<uint32_t>(bounded) | negated)));
}

// A `Pixels` holds `count` contiguous pixels of `channels` numbers each.
template <class Scalar>
struct Pixels {
  const Scalar* x;
  int64_t count, channels;
};

// Adds, per channel, x - shift and its square over `rows` pixels; several pixels at a time save
// loads and stores of the sums.
template <int64_t rows, class Scalar>
EPS_INLINED void add_rows(const Scalar* __restrict x,
                          const float* __restrict shift,
                          int64_t channels,
                          float* __restrict sum,
                          float* __restrict square) {
  for (int64_t c = 0; c < channels; ++c) {
    float s = 0, q = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float d = static_cast<float>(x[r * channels + c]) - shift[c];
      s += d;
      q += d * d;
    }
    sum[c] += s;
    square[c] += q;
  }
}

// Adds all x - shift to sums[0][c], and their squares to sums[1][c].
template <class Scalar>
EPS_INLINED void add_moments(Pixels<Scalar> in, const float* shift, float* sums) {
  const int64_t c = in.channels;
  int64_t p = 0;
  for (; p + 8 <= in.count; p += 8) add_rows<8>(in.x + p * c, shift, c, sums, sums + c);
  for (; p < in.count; ++p) add_rows<1>(in.x + p * c, shift, c, sums, sums + c);
}

// Computes y = act(x * line[0][c] + line[1][c]).
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

// Returns the sum of squares of a pixel, in so many parts that the compiler adds whole vectors.
template <class Scalar>
EPS_INLINED float sum_of_squares(const Scalar* __restrict x, int64_t channels) {
  constexpr int64_t kParts = 16;
  float part[kParts] = {};
  int64_t c = 0;
  for (; c + kParts <= channels; c += kParts)
    for (int64_t i = 0; i < kParts; ++i) {
      const float value = static_cast<float>(x[c + i]);
      part[i] += value * value;
    }
  for (; c < channels; ++c) {
    const float value = static_cast<float>(x[c]);
    part[0] += value * value;
  }
  for (int64_t width = kParts / 2; width > 0; width /= 2)
    for (int64_t i = 0; i < width; ++i) part[i] += part[i + width];
  return part[0];
}

// Computes y = act(x / (mean square + eps)^(1/2) * line[0][c] + line[1][c]) for each pixel.
template <bool activate, class Scalar>
EPS_INLINED void norm_pixels(Pixels<Scalar> in, const float* line, float eps, Scalar* out) {
  const float* __restrict slope = line;
  const float* __restrict intercept = line + in.channels;
  for (int64_t p = 0; p < in.count; ++p) {
    const Scalar* __restrict x = in.x + p * in.channels;
    Scalar* __restrict y = out + p * in.channels;
    const float mean = sum_of_squares(x, in.channels) / static_cast<float>(in.channels);
    const float scale = 1.0f / std::sqrt(mean + eps);
    for (int64_t c = 0; c < in.channels; ++c) {
      const float value = static_cast<float>(x[c]) * scale * slope[c] + intercept[c];
      y[c] = static_cast<Scalar>(activate ? silu(value) : value);
    }
  }
}

// Computes h = (h + x) * scale.
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
  void (*add_moments)(Pixels<Scalar>, const float* shift, float* sums);
  void (*map)(Pixels<Scalar>, const float* line, Scalar* out);
  void (*map_and_activate)(Pixels<Scalar>, const float* line, Scalar* out);
  void (*norm)(Pixels<Scalar>, const float* line, float eps, Scalar* out);
  void (*norm_and_activate)(Pixels<Scalar>, const float* line, float eps, Scalar* out);
  void (*add_scaled)(Pixels<Scalar>, float scale, Scalar* out);
};

template <class Scalar>
Loops<Scalar> any_machine() {
  using P = Pixels<Scalar>;
  return {[](P in, const float* shift, float* sums) { add_moments(in, shift, sums); },
          [](P in, const float* line, Scalar* out) { map_pixels<false>(in, line, out); },
          [](P in, const float* line, Scalar* out) { map_pixels<true>(in, line, out); },
          [](P in, const float* line, float eps, Scalar* out) {
            norm_pixels<false>(in, line, eps, out);
          },
          [](P in, const float* line, float eps, Scalar* out) {
            norm_pixels<true>(in, line, eps, out);
          },
          [](P in, float scale, Scalar* out) { add_scaled(in, scale, out); }};
}

template <class Scalar>
Loops<Scalar> wide_machine() {
  using P = Pixels<Scalar>;
  return {[](P in, const float* shift, float* sums) EPS_WIDE { add_moments(in, shift, sums); },
          [](P in, const float* line, Scalar* out) EPS_WIDE { map_pixels<false>(in, line, out); },
          [](P in, const float* line, Scalar* out) EPS_WIDE { map_pixels<true>(in, line, out); },
          [](P in, const float* line, float eps, Scalar* out)
              EPS_WIDE { norm_pixels<false>(in, line, eps, out); },
          [](P in, const float* line, float eps, Scalar* out)
              EPS_WIDE { norm_pixels<true>(in, line, eps, out); },
          [](P in, float scale, Scalar* out) EPS_WIDE { add_scaled(in, scale, out); }};
}

template <class Scalar>
Loops<Scalar> best() {
  return wide_vectors() ? wide_machine<Scalar>() : any_machine<Scalar>();
}

#undef EPS_INLINED
#undef EPS_WIDE

}  // namespace eps::nets::pixel_loops
