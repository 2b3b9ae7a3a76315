// Group norm with its surroundings, backward.
//
// With g = dy silu'(z), where dy is that of silu's answer before dropout, per channel S1 = sum of g
// and S2 = sum of g xhat over the pixels, and per group m1 and m2 the means of gain g and gain g
// xhat:  dx = rstd (gain g - m1 - xhat m2).
#include "eps/nets/cuda/fused_cuda_dropout.cuh"
#include "eps/nets/cuda/fused_cuda_vectors.cuh"

namespace eps::nets::cuda {
namespace {

// dy silu'(z), where silu'(z) = s (1 + z (1 - s)) and s = sigmoid(z).
template <After after>
__device__ inline float through_activation(float dy, float z) {
  if (after == After::nothing) return dy;
  const float s = sigmoid(z);
  return dy * s * (1.0f + z * (1.0f - s));
}

// Per chunk and channel the sums of g and g (x - center). Reads x and dy once.
template <class T, After after>
__global__ void __launch_bounds__(512) sum_gradients(const uint4* __restrict__ x,
                                                     const uint4* __restrict__ dy,
                                                     Tiling tiling,
                                                     int pixels,
                                                     Lines lines,
                                                     Dropout dropout,
                                                     float* __restrict__ pairs) {
  extern __shared__ float4 shared[];
  const Walk walk = walk_of<T>(tiling, pixels);
  const int channels = tiling.columns * kWidth<T>;
  float center[kWidth<T>], slope[kWidth<T>], intercept[kWidth<T>];
  load_slope(
      lines, static_cast<int64_t>(walk.image) * channels + walk.channel, center, slope, intercept);
  const Keep keep = keep_of(dropout);
  float plain[kWidth<T>] = {}, tilted[kWidth<T>] = {};
  for_each_batch<2>(walk, [&](auto batch, int k) {
    uint4 raw_x[batch.size], raw_dy[batch.size];
    unsigned kept[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      raw_x[b] = x[walk.at(k + b)];
      raw_dy[b] = dy[walk.at(k + b)];
      if (after == After::silu_and_dropout) kept[b] = dropout.kept[walk.at(k + b)];
    }
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>], grad[kWidth<T>];
      unpack<T>(raw_x[b], value);
      unpack<T>(raw_dy[b], grad);
      if (after == After::silu_and_dropout) drop(kept[b], keep.scale, grad);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        const float d = value[i] - center[i];
        const float g = through_activation<after>(grad[i], d * slope[i] + intercept[i]);
        plain[i] += g;
        tilted[i] += g * d;
      }
    }
  });
  float* pair = pairs + static_cast<int64_t>(blockIdx.x) * 2 * channels;
  sum_rows(plain, reinterpret_cast<float*>(shared), pair);
  sum_rows(tilted, reinterpret_cast<float*>(shared), pair + channels);
}

// dx = g slope - level - (x - center) tilt, (images, channels) each.
struct Planes {
  float* level;
  float* tilt;
};

struct GroupMeans {
  double m1, m2;
};

__device__ inline GroupMeans group_means(
    const Lines& lines, const double2* sums, int64_t row, int c, int pixels, int size) {
  const int first = c / size * size;
  double m1 = 0, m2 = 0;
  for (int i = first; i < first + size; ++i) {
    m1 += lines.gain[row + i] * sums[i].x;
    m2 += static_cast<double>(lines.gain[row + i]) * lines.rstd[row + i] * sums[i].y;
  }
  const double count = static_cast<double>(pixels) * size;
  return {m1 / count, m2 / count};
}

// The gradients of the tables for one channel of one image, from S1 and S2.
__device__ inline void write_gradients(const Norm& norm,
                                       const NormGradients& out,
                                       int image,
                                       int c,
                                       int channels,
                                       float s1,
                                       float s2) {
  const int64_t at = static_cast<int64_t>(image) * channels + c;
  const float scale =
      norm.modulation.data ? 1.0f + norm.modulation.data[image * norm.modulation.stride + c] : 1.0f;
  out.weight[at] = scale * s2;
  out.bias[at] = scale * s1;
  if (!out.modulation) return;
  float* row = out.modulation + 2 * static_cast<int64_t>(image) * channels;
  row[c] = load_channel(norm.weight, c) * s2 + load_channel(norm.bias, c) * s1;
  row[channels + c] = s1;
}

// One block per image. Reads what sum_gradients wrote. The gradient of an offset is the sum of dx
// over the pixels, which needs no dx: the pixels' mean of xhat is known.
__global__ void __launch_bounds__(512, 1) find_planes(const float* __restrict__ pairs,
                                                      Norm norm,
                                                      Tiling tiling,
                                                      int pixels,
                                                      int channels,
                                                      Lines lines,
                                                      NormGradients gradients,
                                                      Planes planes) {
  extern __shared__ double2 sums[];
  const int image = blockIdx.x;
  const int64_t row = static_cast<int64_t>(image) * channels;
  const auto join = [](double2& total, int, int, float plain, float tilted) {
    total.x += plain;
    total.y += tilted;
  };
  join_chunks(pairs + row * 2 * tiling.chunks, tiling.chunks, channels, sums, join);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int c = thread; c < channels; c += blockDim.x * blockDim.y) {
    const GroupMeans group = group_means(lines, sums, row, c, pixels, channels / norm.groups);
    const double rstd = lines.rstd[row + c];
    planes.level[row + c] = static_cast<float>(rstd * group.m1);
    planes.tilt[row + c] = static_cast<float>(rstd * rstd * group.m2);
    write_gradients(norm,
                    gradients,
                    image,
                    c,
                    channels,
                    static_cast<float>(sums[c].x),
                    static_cast<float>(sums[c].y * rstd));
    if (gradients.offset) {
      const double mean = group.m1 + group.m2 * lines.mean_xhat[row + c];
      gradients.offset[row + c] =
          static_cast<float>(rstd * (lines.gain[row + c] * sums[c].x - pixels * mean));
    }
  }
}

// Reads x and dy and writes dx, once each.
template <class T, After after>
__global__ void __launch_bounds__(512) map_planes(const uint4* __restrict__ x,
                                                  const uint4* __restrict__ dy,
                                                  Tiling tiling,
                                                  int pixels,
                                                  Lines lines,
                                                  Planes planes,
                                                  Dropout dropout,
                                                  uint4* __restrict__ dx) {
  const Walk walk = walk_of<T>(tiling, pixels);
  const int64_t row = static_cast<int64_t>(walk.image) * tiling.columns * kWidth<T> + walk.channel;
  float center[kWidth<T>], slope[kWidth<T>], intercept[kWidth<T>];
  float level[kWidth<T>], tilt[kWidth<T>];
  load_slope(lines, row, center, slope, intercept);
  load_row(planes.level + row, level);
  load_row(planes.tilt + row, tilt);
  const Keep keep = keep_of(dropout);
  for_each_batch<2>(walk, [&](auto batch, int k) {
    uint4 raw_x[batch.size], raw_dy[batch.size];
    unsigned kept[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      raw_x[b] = x[walk.at(k + b)];
      raw_dy[b] = dy[walk.at(k + b)];
      if (after == After::silu_and_dropout) kept[b] = dropout.kept[walk.at(k + b)];
    }
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>], grad[kWidth<T>];
      unpack<T>(raw_x[b], value);
      unpack<T>(raw_dy[b], grad);
      if (after == After::silu_and_dropout) drop(kept[b], keep.scale, grad);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        const float d = value[i] - center[i];
        const float g = through_activation<after>(grad[i], d * slope[i] + intercept[i]);
        value[i] = g * slope[i] - level[i] - d * tilt[i];
      }
      dx[walk.at(k + b)] = pack<T>(value);
    }
  });
}

}  // namespace

void norm_backward(const Images& shape,
                   const Norm& norm,
                   const Dropout& dropout,
                   const void* x,
                   const void* dy,
                   const Lines& lines,
                   float* scratch,
                   const NormGradients& gradients,
                   void* dx,
                   cudaStream_t stream) {
  const Tiling tiling = tiling_of(shape);
  const JoinShape join = join_shape(shape, tiling);
  const dim3 grid(shape.images * tiling.chunks);
  const int64_t table = int64_t{shape.images} * shape.channels;
  float* level = scratch + 2 * table * tiling.chunks;
  const Planes planes{level, level + table};
  const auto* image = static_cast<const uint4*>(x);
  const auto* gradient = static_cast<const uint4*>(dy);
  with_type(shape.type, [&](auto zero) {
    using T = decltype(zero);
    const auto sum = dropout.keep < 1 ? sum_gradients<T, After::silu_and_dropout>
                     : norm.silu      ? sum_gradients<T, After::silu>
                                      : sum_gradients<T, After::nothing>;
    sum<<<grid, tiling.block(), sum_rows_bytes(shape, tiling), stream>>>(
        image, gradient, tiling, shape.pixels, lines, dropout, scratch);
    find_planes<<<shape.images, join.block, join.bytes, stream>>>(
        scratch, norm, tiling, shape.pixels, shape.channels, lines, gradients, planes);
    const auto map = dropout.keep < 1 ? map_planes<T, After::silu_and_dropout>
                     : norm.silu      ? map_planes<T, After::silu>
                                      : map_planes<T, After::nothing>;
    map<<<grid, tiling.block(), 0, stream>>>(
        image, gradient, tiling, shape.pixels, lines, planes, dropout, static_cast<uint4*>(dx));
  });
}

}  // namespace eps::nets::cuda
