// Group norm fused with the operations around it, forward: moments per channel, affine maps per
// channel, one pass that applies them.
#include "eps/nets/cuda/fused_cuda_dropout.cuh"
#include "eps/nets/cuda/fused_cuda_vectors.cuh"

namespace eps::nets::cuda {
namespace {

// Computes, per chunk and channel, the sums of x - shift and of its square, where shift is the
// chunk's first pixel. If that pixel is an outlier by d, the group's squared deviations add up to
// at least about d^2, and the chunk's m pixels round by about m d^2 2^-24: harmless, whatever the
// mean. Reads x once.
template <class T>
__global__ void __launch_bounds__(512)
    sum_moments(const uint4* __restrict__ x, Tiling tiling, int pixels, float* __restrict__ pairs) {
  extern __shared__ float4 shared[];
  const StridedRange range = range_of<T>(tiling, pixels);
  float shift[kWidth<T>], sum[kWidth<T>] = {}, square[kWidth<T>] = {};
  unpack<T>(x[range.first - static_cast<int64_t>(threadIdx.y) * tiling.columns], shift);
  for_each_batch<4>(range, [&](auto batch, int k) {
    uint4 raw[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) raw[b] = x[range.at(k + b)];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>];
      unpack<T>(raw[b], value);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        const float d = value[i] - shift[i];
        sum[i] += d;
        square[i] += d * d;
      }
    }
  });
  const int channels = tiling.columns * kWidth<T>;
  float* pair = pairs + static_cast<int64_t>(blockIdx.x) * 2 * channels;
  sum_rows(sum, reinterpret_cast<float*>(shared), pair);
  sum_rows(square, reinterpret_cast<float*>(shared), pair + channels);
}

__device__ inline double row_value(const ImageTable& rows, int image, int c) {
  return rows.data ? rows.data[image * rows.stride + c] : 0.0;
}

struct GroupMoments {
  double mean, rstd;
};

// Returns the moments of x + offset in the group of channel c, from each channel's sums of x and
// x^2.
__device__ inline GroupMoments group_moments(
    const Norm& norm, const double2* sums, int image, int c, int pixels, int size) {
  const int first = c / size * size;
  const double each = 1.0 / pixels;
  double mean = 0, deviation = 0;
  for (int i = first; i < first + size; ++i) {
    mean += sums[i].x * each + row_value(norm.offset, image, i);
  }
  mean /= size;
  for (int i = first; i < first + size; ++i) {
    const double own = sums[i].x * each;
    const double apart = own + row_value(norm.offset, image, i) - mean;
    deviation += sums[i].y + pixels * (apart * apart - own * own);
  }
  const double variance = fmax(deviation, 0.0) * each / size;
  return {mean, 1 / sqrt(variance + norm.eps)};
}

// Computes the affine maps from the sums of sum_moments, with one block per image.
template <class T>
__global__ void __launch_bounds__(512, 1) find_affine(const T* __restrict__ x,
                                                      const float* __restrict__ pairs,
                                                      Norm norm,
                                                      Tiling tiling,
                                                      int pixels,
                                                      int channels,
                                                      ChannelAffine affine) {
  extern __shared__ double2 sums[];
  const int image = blockIdx.x;
  const T* own = x + static_cast<int64_t>(image) * pixels * channels;
  const int64_t before = static_cast<int64_t>(image) * tiling.chunks * 2 * channels;
  const auto join = [&](double2& total, int chunk, int c, float sum, float square) {
    const int begin = chunk * tiling.chunk;
    const double count = min(tiling.chunk, pixels - begin);
    const double shift = static_cast<float>(own[static_cast<int64_t>(begin) * channels + c]);
    total.x += sum + count * shift;
    total.y += square + shift * (2.0 * sum + count * shift);
  };
  join_chunks(pairs + before, tiling.chunks, channels, sums, join);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int c = thread; c < channels; c += blockDim.x * blockDim.y) {
    const GroupMoments group = group_moments(norm, sums, image, c, pixels, channels / norm.groups);
    const double center = group.mean - row_value(norm.offset, image, c);
    const float scale = 1.0f + static_cast<float>(row_value(norm.modulation, image, c));
    const float shift = static_cast<float>(row_value(norm.modulation, image, channels + c));
    const int64_t at = static_cast<int64_t>(image) * channels + c;
    affine.center[at] = static_cast<float>(center);
    affine.rstd[at] = static_cast<float>(group.rstd);
    affine.gain[at] = load_channel(norm.weight, c) * scale;
    affine.intercept[at] = load_channel(norm.bias, c) * scale + shift;
    affine.mean_xhat[at] = static_cast<float>((sums[c].x / pixels - center) * group.rstd);
  }
}

// Applies the affine maps and the epilogue. Reads x and writes y, once each.
template <class T, Epilogue epilogue>
__global__ void __launch_bounds__(512) apply_affine(const uint4* __restrict__ x,
                                                    Tiling tiling,
                                                    int pixels,
                                                    ChannelAffine affine,
                                                    Dropout dropout,
                                                    uint4* __restrict__ y) {
  const StridedRange range = range_of<T>(tiling, pixels);
  const int64_t row =
      static_cast<int64_t>(range.image) * tiling.columns * kWidth<T> + range.channel;
  float center[kWidth<T>], slope[kWidth<T>], intercept[kWidth<T>];
  load_affine(affine, row, center, slope, intercept);
  const Keep keep = keep_of(dropout);
  const PhiloxKey key =
      epilogue == Epilogue::silu_and_dropout ? key_of(dropout.random) : PhiloxKey{};
  constexpr int kBatch = epilogue == Epilogue::silu_and_dropout ? 2 : 4;
  for_each_batch<kBatch>(range, [&](auto batch, int k) {
    uint4 raw[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) raw[b] = x[range.at(k + b)];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>];
      unpack<T>(raw[b], value);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        const float z = (value[i] - center[i]) * slope[i] + intercept[i];
        value[i] = epilogue == Epilogue::nothing ? z : z * sigmoid(z);
      }
      if (epilogue == Epilogue::silu_and_dropout) {
        const unsigned kept = draw_kept<kWidth<T>>(key, range.at(k + b), keep.threshold);
        drop(kept, keep.scale, value);
        if (dropout.kept) dropout.kept[range.at(k + b)] = static_cast<uint8_t>(kept);
      }
      y[range.at(k + b)] = pack<T>(value);
    }
  });
}

}  // namespace

bool supported(const Images& shape) {
  const int width = shape.type == Scalar::float32 ? 4 : 8;
  const bool sizes = shape.images > 0 && shape.pixels > 0 && shape.channels > 0;
  return sizes && shape.channels % width == 0 && shape.channels <= 2048 &&
         int64_t{shape.images} * shape.pixels < (int64_t{1} << 30);
}

int64_t norm_scratch(const Images& shape) {
  return int64_t{shape.images} * shape.channels * 2 * (tiling_of(shape).chunks + 1);
}

void norm_forward(const Images& shape,
                  const Norm& norm,
                  const Dropout& dropout,
                  const void* x,
                  float* scratch,
                  const ChannelAffine& affine,
                  void* y,
                  cudaStream_t stream) {
  const Tiling tiling = tiling_of(shape);
  const JoinShape join = join_shape(shape, tiling);
  const dim3 grid(shape.images * tiling.chunks);
  const auto* vectors = static_cast<const uint4*>(x);
  auto* out = static_cast<uint4*>(y);
  with_type(shape.type, [&](auto zero) {
    using T = decltype(zero);
    sum_moments<T><<<grid, tiling.block(), sum_rows_bytes(shape, tiling), stream>>>(
        vectors, tiling, shape.pixels, scratch);
    find_affine<T><<<shape.images, join.block, join.bytes, stream>>>(
        static_cast<const T*>(x), scratch, norm, tiling, shape.pixels, shape.channels, affine);
    const auto map = dropout.keep < 1 ? apply_affine<T, Epilogue::silu_and_dropout>
                     : norm.silu      ? apply_affine<T, Epilogue::silu>
                                      : apply_affine<T, Epilogue::nothing>;
    map<<<grid, tiling.block(), 0, stream>>>(vectors, tiling, shape.pixels, affine, dropout, out);
  });
}

}  // namespace eps::nets::cuda
