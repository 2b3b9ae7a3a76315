// The inner loops over channels-last pixels, compiled for the vector instructions of the machine.
//
// The loops are plain C++ that the compiler vectorises. The library is built for any x86-64
// machine, so each loop is compiled a second time for AVX2 there, and the better version is chosen
// at run time.
#pragma once

#include <c10/util/BFloat16.h>

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

// Returns 1 + e^-x. |x| is bounded by 87 as an integer, without a branch, which would prevent the
// vectorisation of the calling loops.
EPS_INLINED float one_and_exp(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto magnitude = static_cast<int32_t>(bits & 0x7fffffffu);
  const int32_t bounded = std::min(magnitude, std::bit_cast<int32_t>(87.0f));
  const uint32_t negated = ~bits & 0x80000000u;
  return 1.0f + fast_exp(std::bit_cast<float>(static_cast<uint32_t>(bounded) | negated));
}

EPS_INLINED float silu(float x) { return x / one_and_exp(x); }

EPS_INLINED float silu_derivative(float x) {
  const float sigmoid = 1.0f / one_and_exp(x);
  return sigmoid * (1.0f + x * (1.0f - sigmoid));
}

// Conversions between float and the type of an image. Those of c10 have branches, which would
// prevent the vectorisation of the calling loops.
EPS_INLINED float load(const float& x) { return x; }
EPS_INLINED float load(const c10::BFloat16& x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.x) << 16);
}
EPS_INLINED void store(float value, float& x) { x = value; }
EPS_INLINED void store(float value, c10::BFloat16& x) {  // to the nearest, ties to even; NaN stays
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  x.x = static_cast<uint16_t>(is_nan ? 0x7fc0u : rounded);
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
      const float d = load(x[r * channels + c]) - shift[c];
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
      const float value = load(x[c]) * slope[c] + intercept[c];
      store(activate ? silu(value) : value, y[c]);
    }
  }
}

// Returns the inner product of two pixels, in so many parts that the compiler adds whole vectors.
template <class Scalar, class Other>
EPS_INLINED float inner_product(const Scalar* a, const Other* b, int64_t channels) {
  constexpr int64_t kParts = 16;
  float part[kParts] = {};
  int64_t c = 0;
  for (; c + kParts <= channels; c += kParts)
    for (int64_t i = 0; i < kParts; ++i) part[i] += load(a[c + i]) * load(b[c + i]);
  for (; c < channels; ++c) part[0] += load(a[c]) * load(b[c]);
  for (int64_t width = kParts / 2; width > 0; width /= 2)
    for (int64_t i = 0; i < width; ++i) part[i] += part[i + width];
  return part[0];
}

// Returns 1 / (mean square + eps)^(1/2) of a pixel.
template <class Scalar>
EPS_INLINED float pixel_scale(const Scalar* x, int64_t channels, float eps) {
  const float mean = inner_product(x, x, channels) / static_cast<float>(channels);
  return 1.0f / std::sqrt(mean + eps);
}

// Computes y = act(x / (mean square + eps)^(1/2) * line[0][c] + line[1][c]) for each pixel.
template <bool activate, class Scalar>
EPS_INLINED void norm_pixels(Pixels<Scalar> in, const float* line, float eps, Scalar* out) {
  const float* __restrict slope = line;
  const float* __restrict intercept = line + in.channels;
  for (int64_t p = 0; p < in.count; ++p) {
    const Scalar* __restrict x = in.x + p * in.channels;
    Scalar* __restrict y = out + p * in.channels;
    const float scale = pixel_scale(x, in.channels, eps);
    for (int64_t c = 0; c < in.channels; ++c) {
      const float value = load(x[c]) * scale * slope[c] + intercept[c];
      store(activate ? silu(value) : value, y[c]);
    }
  }
}

// A `NormGradients` names what the gradients of norm_pixels() need and where they go. With
// r = 1 / (mean square + eps)^(1/2), v = x r slope + intercept and g = act'(v) dy:
//
//   dintercept = sum of g over pixels,   dslope = sum of g x r,
//   dx = r (h - x r mean over channels of (h x r)),   h = g slope.
template <class Scalar>
struct NormGradients {
  const Scalar* dy;
  const float* line;  // slope, then intercept
  float eps;
  Scalar* dx;
  float* dline;    // the sums are added
  float* scratch;  // room for two pixels
};

template <bool activate, class Scalar>
EPS_INLINED void norm_gradients(Pixels<Scalar> in, const NormGradients<Scalar>& with) {
  const int64_t channels = in.channels;
  const float* __restrict slope = with.line;
  const float* __restrict intercept = with.line + channels;
  float* __restrict dslope = with.dline;
  float* __restrict dintercept = with.dline + channels;
  float* __restrict normed = with.scratch;
  float* __restrict h = with.scratch + channels;
  for (int64_t p = 0; p < in.count; ++p) {
    const Scalar* __restrict x = in.x + p * channels;
    const Scalar* __restrict dy = with.dy + p * channels;
    Scalar* __restrict dx = with.dx + p * channels;
    const float scale = pixel_scale(x, channels, with.eps);
    // The compiler vectorises conversions only in a loop of their own.
    for (int64_t c = 0; c < channels; ++c) {
      normed[c] = load(x[c]) * scale;
      h[c] = load(dy[c]);
    }
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) {
      const float value = normed[c] * slope[c] + intercept[c];
      const float g = h[c] * (activate ? silu_derivative(value) : 1.0f);
      dintercept[c] += g;
      dslope[c] += g * normed[c];
      h[c] = g * slope[c];
    }
    const float mean = inner_product(normed, h, channels) / static_cast<float>(channels);
    for (int64_t c = 0; c < channels; ++c) store(scale * (h[c] - normed[c] * mean), dx[c]);
  }
}

// Computes h = (h + x) * scale.
template <class Scalar>
EPS_INLINED void add_scaled(Pixels<Scalar> in, float scale, Scalar* out) {
  const Scalar* __restrict x = in.x;
  Scalar* __restrict h = out;
  for (int64_t i = 0; i < in.count * in.channels; ++i) {
    store((load(h[i]) + load(x[i])) * scale, h[i]);
  }
}

template <class Scalar>
struct Loops {
  void (*add_moments)(Pixels<Scalar>, const float* shift, float* sums);
  void (*map)(Pixels<Scalar>, const float* line, Scalar* out);
  void (*map_and_activate)(Pixels<Scalar>, const float* line, Scalar* out);
  void (*norm)(Pixels<Scalar>, const float* line, float eps, Scalar* out);
  void (*norm_and_activate)(Pixels<Scalar>, const float* line, float eps, Scalar* out);
  void (*norm_gradients)(Pixels<Scalar>, const NormGradients<Scalar>&);
  void (*activated_norm_gradients)(Pixels<Scalar>, const NormGradients<Scalar>&);
  void (*add_scaled)(Pixels<Scalar>, float scale, Scalar* out);
};

template <class Scalar>
Loops<Scalar> any_machine() {
  using P = Pixels<Scalar>;
  using G = NormGradients<Scalar>;
  return {[](P in, const float* shift, float* sums) { add_moments(in, shift, sums); },
          [](P in, const float* line, Scalar* out) { map_pixels<false>(in, line, out); },
          [](P in, const float* line, Scalar* out) { map_pixels<true>(in, line, out); },
          [](P in, const float* line, float eps, Scalar* out) {
            norm_pixels<false>(in, line, eps, out);
          },
          [](P in, const float* line, float eps, Scalar* out) {
            norm_pixels<true>(in, line, eps, out);
          },
          [](P in, const G& with) { norm_gradients<false>(in, with); },
          [](P in, const G& with) { norm_gradients<true>(in, with); },
          [](P in, float scale, Scalar* out) { add_scaled(in, scale, out); }};
}

template <class Scalar>
Loops<Scalar> wide_machine() {
  using P = Pixels<Scalar>;
  using G = NormGradients<Scalar>;
  return {[](P in, const float* shift, float* sums) EPS_WIDE { add_moments(in, shift, sums); },
          [](P in, const float* line, Scalar* out) EPS_WIDE { map_pixels<false>(in, line, out); },
          [](P in, const float* line, Scalar* out) EPS_WIDE { map_pixels<true>(in, line, out); },
          [](P in, const float* line, float eps, Scalar* out)
              EPS_WIDE { norm_pixels<false>(in, line, eps, out); },
          [](P in, const float* line, float eps, Scalar* out)
              EPS_WIDE { norm_pixels<true>(in, line, eps, out); },
          [](P in, const G& with) EPS_WIDE { norm_gradients<false>(in, with); },
          [](P in, const G& with) EPS_WIDE { norm_gradients<true>(in, with); },
          [](P in, float scale, Scalar* out) EPS_WIDE { add_scaled(in, scale, out); }};
}

template <class Scalar>
Loops<Scalar> best() {
  return wide_vectors() ? wide_machine<Scalar>() : any_machine<Scalar>();
}

#undef EPS_INLINED
#undef EPS_WIDE

}  // namespace eps::nets::pixel_loops
