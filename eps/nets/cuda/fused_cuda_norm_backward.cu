// Group norm fused with the operations around it, backward.
//
// With g = dy silu'(z), where dy is the gradient of silu's output before dropout, per channel S1 =
// sum of g and S2 = sum of g xhat over the pixels, and per group m1 and m2 the means of gain g and
// gain g xhat:
//   dx = rstd (gain g - m1 - xhat m2).
#include "eps/nets/cuda/fused_cuda_gradients.cuh"

namespace eps::nets::cuda {
namespace {

// Computes, per chunk and channel, the sums of g and g (x - center). Reads x and dy once.
template <class T, Epilogue epilogue>
__global__ void __launch_bounds__(512) sum_gradients(const uint4* __restrict__ x,
                                                     const uint4* __restrict__ dy,
                                                     Tiling tiling,
                                                     int pixels,
                                                     ChannelAffine affine,
                                                     Dropout dropout,
                                                     float* __restrict__ pairs) {
  extern __shared__ float4 shared[];
  const StridedRange range = range_of<T>(tiling, pixels);
  const int channels = tiling.columns * kWidth<T>;
  float center[kWidth<T>], slope[kWidth<T>], intercept[kWidth<T>];
  load_affine(affine,
              static_cast<int64_t>(range.image) * channels + range.channel,
              center,
              slope,
              intercept);
  const Keep keep = keep_of(dropout);
  float plain[kWidth<T>] = {}, tilted[kWidth<T>] = {};
  for_each_batch<2>(range, [&](auto batch, int k) {
    uint4 raw_x[batch.size], raw_dy[batch.size];
    unsigned kept[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      raw_x[b] = x[range.at(k + b)];
      raw_dy[b] = dy[range.at(k + b)];
      if (epilogue == Epilogue::silu_and_dropout) kept[b] = dropout.kept[range.at(k + b)];
    }
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>], grad[kWidth<T>];
      unpack<T>(raw_x[b], value);
      unpack<T>(raw_dy[b], grad);
      if (epilogue == Epilogue::silu_and_dropout) drop(kept[b], keep.scale, grad);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        const float d = value[i] - center[i];
        const float g = through_activation<epilogue>(grad[i], d * slope[i] + intercept[i]);
        plain[i] += g;
        tilted[i] += g * d;
      }
    }
  });
  float* pair = pairs + static_cast<int64_t>(blockIdx.x) * 2 * channels;
  sum_rows(plain, reinterpret_cast<float*>(shared), pair);
  sum_rows(tilted, reinterpret_cast<float*>(shared), pair + channels);
}

// `GradientCoefficients` holds the coefficients of dx = g slope - level - (x - center) tilt,
// (images, channels) each.
struct GradientCoefficients {
  float* level;
  float* tilt;
};

struct GroupMeans {
  double m1, m2;
};

__device__ inline GroupMeans group_means(
    const ChannelAffine& affine, const double2* sums, int64_t row, int c, int pixels, int size) {
  const int first = c / size * size;
  double m1 = 0, m2 = 0;
  for (int i = first; i < first + size; ++i) {
    m1 += affine.gain[row + i] * sums[i].x;
    m2 += static_cast<double>(affine.gain[row + i]) * affine.rstd[row + i] * sums[i].y;
  }
  const double count = static_cast<double>(pixels) * size;
  return {m1 / count, m2 / count};
}

// Computes the coefficients and the gradients of the tables from the sums of sum_gradients, with
// one block per image. The gradient of an offset is the sum of dx over the pixels, which follows
// without dx from the mean of xhat.
__global__ void __launch_bounds__(512, 1) find_coefficients(const float* __restrict__ pairs,
                                                            Norm norm,
                                                            Tiling tiling,
                                                            int pixels,
                                                            int channels,
                                                            ChannelAffine affine,
                                                            NormGradients gradients,
                                                            GradientCoefficients coefficients) {
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
    const GroupMeans group = group_means(affine, sums, row, c, pixels, channels / norm.groups);
    const double rstd = affine.rstd[row + c];
    coefficients.level[row + c] = static_cast<float>(rstd * group.m1);
    coefficients.tilt[row + c] = static_cast<float>(rstd * rstd * group.m2);
    write_gradients(norm,
                    gradients,
                    image,
                    c,
                    channels,
                    static_cast<float>(sums[c].x),
                    static_cast<float>(sums[c].y * rstd));
    if (gradients.offset) {
      const double mean = group.m1 + group.m2 * affine.mean_xhat[row + c];
      gradients.offset[row + c] =
          static_cast<float>(rstd * (affine.gain[row + c] * sums[c].x - pixels * mean));
    }
  }
}

// Computes dx. Reads x and dy and writes dx, once each.
template <class T, Epilogue epilogue>
__global__ void __launch_bounds__(512) apply_coefficients(const uint4* __restrict__ x,
                                                          const uint4* __restrict__ dy,
                                                          Tiling tiling,
                                                          int pixels,
                                                          ChannelAffine affine,
                                                          GradientCoefficients coefficients,
                                                          Dropout dropout,
                                                          uint4* __restrict__ dx) {
  const StridedRange range = range_of<T>(tiling, pixels);
  const int64_t row =
      static_cast<int64_t>(range.image) * tiling.columns * kWidth<T> + range.channel;
  float center[kWidth<T>], slope[kWidth<T>], intercept[kWidth<T>];
  float level[kWidth<T>], tilt[kWidth<T>];
  load_affine(affine, row, center, slope, intercept);
  load_row(coefficients.level + row, level);
  load_row(coefficients.tilt + row, tilt);
  const Keep keep = keep_of(dropout);
  for_each_batch<2>(range, [&](auto batch, int k) {
    uint4 raw_x[batch.size], raw_dy[batch.size];
    unsigned kept[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      raw_x[b] = x[range.at(k + b)];
      raw_dy[b] = dy[range.at(k + b)];
      if (epilogue == Epilogue::silu_and_dropout) kept[b] = dropout.kept[range.at(k + b)];
    }
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>], grad[kWidth<T>];
      unpack<T>(raw_x[b], value);
      unpack<T>(raw_dy[b], grad);
      if (epilogue == Epilogue::silu_and_dropout) drop(kept[b], keep.scale, grad);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        const float d = value[i] - center[i];
        const float g = through_activation<epilogue>(grad[i], d * slope[i] + intercept[i]);
        value[i] = g * slope[i] - level[i] - d * tilt[i];
      }
      dx[range.at(k + b)] = pack<T>(value);
    }
  });
}

}  // namespace

void norm_backward(const Images& shape,
                   const Norm& norm,
                   const Dropout& dropout,
                   const void* x,
                   const void* dy,
                   const ChannelAffine& affine,
                   float* scratch,
                   const NormGradients& gradients,
                   void* dx,
                   cudaStream_t stream) {
  const Tiling tiling = tiling_of(shape);
  const JoinShape join = join_shape(shape, tiling);
  const dim3 grid(shape.images * tiling.chunks);
  const int64_t table = int64_t{shape.images} * shape.channels;
  float* level = scratch + 2 * table * tiling.chunks;
  const GradientCoefficients coefficients{level, level + table};
  const auto* image = static_cast<const uint4*>(x);
  const auto* gradient = static_cast<const uint4*>(dy);
  with_type(shape.type, [&](auto zero) {
    using T = decltype(zero);
    const auto sum = dropout.keep < 1 ? sum_gradients<T, Epilogue::silu_and_dropout>
                     : norm.silu      ? sum_gradients<T, Epilogue::silu>
                                      : sum_gradients<T, Epilogue::nothing>;
    sum<<<grid, tiling.block(), sum_rows_bytes(shape, tiling), stream>>>(
        image, gradient, tiling, shape.pixels, affine, dropout, scratch);
    find_coefficients<<<shape.images, join.block, join.bytes, stream>>>(
        scratch, norm, tiling, shape.pixels, shape.channels, affine, gradients, coefficients);
    const auto map = dropout.keep < 1 ? apply_coefficients<T, Epilogue::silu_and_dropout>
                     : norm.silu      ? apply_coefficients<T, Epilogue::silu>
                                      : apply_coefficients<T, Epilogue::nothing>;
    map<<<grid, tiling.block(), 0, stream>>>(image,
                                             gradient,
                                             tiling,
                                             shape.pixels,
                                             affine,
                                             coefficients,
                                             dropout,
                                             static_cast<uint4*>(dx));
  });
}

}  // namespace eps::nets::cuda
