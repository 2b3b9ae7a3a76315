// The residual sum at the end of a block, and its gradient: all images as one sequence of pixels.
#include "eps/nets/cuda/fused_cuda_vectors.cuh"

namespace eps::nets::cuda {
namespace {

// Returns a tiling with one wave of blocks that fills the largest devices, so that there are few
// partial sums.
Tiling even_tiling(const Images& shape) {
  const int pixels = shape.images * shape.pixels;
  Tiling tiling{};
  tiling.columns = vectors_of(shape);
  tiling.rows = tiling.columns < kThreads ? kThreads / tiling.columns : 1;
  const int wanted = 2 * kEnoughBlocks * tiling.rows;
  tiling.chunk = (pixels + wanted - 1) / wanted * tiling.rows;
  tiling.chunks = (pixels + tiling.chunk - 1) / tiling.chunk;
  return tiling;
}

template <class T>
__global__ void __launch_bounds__(512) add_scaled(const uint4* h,
                                                  const uint4* __restrict__ x,
                                                  const float* __restrict__ bias,
                                                  float scale,
                                                  Tiling tiling,
                                                  int pixels,
                                                  uint4* y) {
  const StridedRange range = range_of<T>(tiling, pixels);
  float shift[kWidth<T>] = {};
  if (bias) {
#pragma unroll
    for (int i = 0; i < kWidth<T>; ++i) shift[i] = bias[range.channel + i];
  }
  for_each_batch<4>(range, [&](auto batch, int k) {
    uint4 raw_h[batch.size], raw_x[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      raw_h[b] = h[range.at(k + b)];
      raw_x[b] = x[range.at(k + b)];
    }
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float sum[kWidth<T>], other[kWidth<T>];
      unpack<T>(raw_h[b], sum);
      unpack<T>(raw_x[b], other);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) sum[i] = (sum[i] + other[i] + shift[i]) * scale;
      y[range.at(k + b)] = pack<T>(sum);
    }
  });
}

template <class T>
__global__ void __launch_bounds__(512, 2) scale_and_sum(const uint4* __restrict__ dy,
                                                        int64_t stride,
                                                        float scale,
                                                        Tiling tiling,
                                                        int pixels,
                                                        uint4* __restrict__ dx,
                                                        float* __restrict__ sums) {
  extern __shared__ float4 shared[];
  const StridedRange range = range_of<T>(tiling, pixels);
  // The offsets of dy differ from those of dx: pixels of dy may be further apart than their
  // channels need.
  const int64_t pixel = static_cast<int64_t>(blockIdx.x) * tiling.chunk + threadIdx.y;
  const int64_t from = pixel * stride + threadIdx.x;
  const int64_t jump = tiling.rows * stride;
  float total[kWidth<T>] = {};
  for_each_batch<4>(range, [&](auto batch, int k) {
    uint4 raw[batch.size];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) raw[b] = dy[from + (k + b) * jump];
#pragma unroll
    for (int b = 0; b < batch.size; ++b) {
      float value[kWidth<T>];
      unpack<T>(raw[b], value);
#pragma unroll
      for (int i = 0; i < kWidth<T>; ++i) {
        value[i] *= scale;
        total[i] += value[i];
      }
      if (dx) dx[range.at(k + b)] = pack<T>(value);
    }
  });
  if (sums) {
    const int64_t channels = tiling.columns * kWidth<T>;
    sum_rows(total, reinterpret_cast<float*>(shared), sums + blockIdx.x * channels);
  }
}

}  // namespace

void residual_forward(const Images& shape,
                      const void* h,
                      const void* x,
                      const float* bias,
                      float scale,
                      void* y,
                      cudaStream_t stream) {
  const Tiling tiling = even_tiling(shape);
  const int pixels = shape.images * shape.pixels;
  with_type(shape.type, [&](auto zero) {
    add_scaled<decltype(zero)>
        <<<tiling.chunks, tiling.block(), 0, stream>>>(static_cast<const uint4*>(h),
                                                       static_cast<const uint4*>(x),
                                                       bias,
                                                       scale,
                                                       tiling,
                                                       pixels,
                                                       static_cast<uint4*>(y));
  });
}

int residual_sums(const Images& shape) { return even_tiling(shape).chunks; }

void residual_backward(const Images& shape,
                       const void* dy,
                       int64_t stride,
                       float scale,
                       void* dx,
                       float* sums,
                       cudaStream_t stream) {
  const Tiling tiling = even_tiling(shape);
  const int pixels = shape.images * shape.pixels;
  const int64_t width = shape.channels / tiling.columns;
  with_type(shape.type, [&](auto zero) {
    scale_and_sum<decltype(zero)>
        <<<tiling.chunks, tiling.block(), sum_rows_bytes(shape, tiling), stream>>>(
            static_cast<const uint4*>(dy),
            stride / width,
            scale,
            tiling,
            pixels,
            static_cast<uint4*>(dx),
            sums);
  });
}

}  // namespace eps::nets::cuda
