// Helpers of the CUDA kernels: vectors of 16 bytes, and the division of pixels among blocks.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "eps/nets/cuda/fused_cuda_kernels.h"

namespace eps::nets::cuda {

template <class T>
inline constexpr int kWidth = 16 / sizeof(T);  // numbers in a vector

__device__ inline float2 unpack_pair(unsigned word, __half) {
  return __half22float2(*reinterpret_cast<const __half2*>(&word));
}
__device__ inline float2 unpack_pair(unsigned word, __nv_bfloat16) {
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)};
}
__device__ inline unsigned pack_pair(float2 pair, __half) {
  const __half2 packed = __float22half2_rn(pair);
  return *reinterpret_cast<const unsigned*>(&packed);
}
__device__ inline unsigned pack_pair(float2 pair, __nv_bfloat16) {
  const __nv_bfloat162 packed = __float22bfloat162_rn(pair);
  return *reinterpret_cast<const unsigned*>(&packed);
}

template <class T>
__device__ inline void unpack(const uint4& raw, float (&values)[kWidth<T>]) {
  const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (sizeof(T) == 4) {
      values[i] = __uint_as_float(words[i]);
    } else {
      const float2 pair = unpack_pair(words[i], T{});
      values[2 * i] = pair.x;
      values[2 * i + 1] = pair.y;
    }
  }
}

template <class T>
__device__ inline uint4 pack(const float (&values)[kWidth<T>]) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (sizeof(T) == 4) {
      words[i] = __float_as_uint(values[i]);
    } else {
      words[i] = pack_pair({values[2 * i], values[2 * i + 1]}, T{});
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

// Loads float32 tables in vectors of four: rows of C begin at multiples of 16 bytes.
template <int width>
__device__ inline void load_row(const float* table, float (&values)[width]) {
#pragma unroll
  for (int i = 0; i < width; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(table + i);
    values[i] = four.x;
    values[i + 1] = four.y;
    values[i + 2] = four.z;
    values[i + 3] = four.w;
  }
}

// Loads the affine maps from index `at` on: z = (x - center) * slope + intercept.
template <int width>
__device__ inline void load_affine(const ChannelAffine& affine,
                                   int64_t at,
                                   float (&center)[width],
                                   float (&slope)[width],
                                   float (&intercept)[width]) {
  float gain[width];
  load_row(affine.center + at, center);
  load_row(affine.rstd + at, slope);
  load_row(affine.gain + at, gain);
  load_row(affine.intercept + at, intercept);
#pragma unroll
  for (int i = 0; i < width; ++i) slope[i] *= gain[i];
}

__device__ inline float load_channel(const Channels& table, int c) {
  switch (table.type) {
    case Scalar::float16:
      return __half2float(static_cast<const __half*>(table.data)[c]);
    case Scalar::bfloat16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(table.data)[c]);
    default:
      return static_cast<const float*>(table.data)[c];
  }
}

__device__ inline float sigmoid(float z) { return __fdividef(1.0f, 1.0f + __expf(-z)); }

// A `Tiling` divides pixels among blocks of columns x rows threads: thread (i, r) processes vector
// i of the channels, of every rows-th pixel from r on. Each block has one chunk of pixels; chunks
// never cross images.
struct Tiling {
  int columns, rows;
  int chunk, chunks;  // pixels in a chunk, chunks in an image

  dim3 block() const { return dim3(columns, rows); }
};

constexpr int kThreads = 256;
constexpr int kEnoughBlocks = 4 * 132;  // four for each multiprocessor of the largest devices

inline int vectors_of(const Images& shape) {
  return shape.channels / (shape.type == Scalar::float32 ? 4 : 8);
}

// Returns a tiling with up to 16 pixels a thread, so that loads once per chunk cost little; with
// fewer pixels where there would be too few blocks.
inline Tiling tiling_of(const Images& shape) {
  Tiling tiling{};
  tiling.columns = vectors_of(shape);
  tiling.rows = tiling.columns < kThreads ? kThreads / tiling.columns : 1;
  for (int each = 16; each >= 2; each /= 2) {
    tiling.chunk = tiling.rows * each;
    tiling.chunks = (shape.pixels + tiling.chunk - 1) / tiling.chunk;
    if (int64_t{tiling.chunks} * shape.images >= kEnoughBlocks) break;
  }
  return tiling;
}

// A `StridedRange` is the range of vectors of thread (i, r): `count` vectors from `first` on, at
// distance `step`.
struct StridedRange {
  int64_t first;
  int step, count;
  int image, channel;  // the first channel of the vector

  __device__ int64_t at(int k) const { return first + static_cast<int64_t>(k) * step; }
};

template <class T>
__device__ inline StridedRange range_of(const Tiling& tiling, int pixels) {
  const int block = blockIdx.x, image = block / tiling.chunks, chunk = block % tiling.chunks;
  const int begin = chunk * tiling.chunk + static_cast<int>(threadIdx.y);
  const int end = min(pixels, (chunk + 1) * tiling.chunk);
  const int count = begin < end ? (end - begin + tiling.rows - 1) / tiling.rows : 0;
  const int64_t first =
      (static_cast<int64_t>(image) * pixels + begin) * tiling.columns + threadIdx.x;
  return {
      first, tiling.rows * tiling.columns, count, image, static_cast<int>(threadIdx.x) * kWidth<T>};
}

template <int vectors>
struct Batch {
  static constexpr int size = vectors;
};

// Calls body(batch, k) for vectors k, ..., k + batch.size - 1 of the range until all are processed:
// a body that first loads its whole batch has batch.size loads in flight.
template <int kBatch, class Body>
__device__ inline void for_each_batch(const StridedRange& range, const Body& body) {
  int k = 0;
  for (; k + kBatch <= range.count; k += kBatch) {
    body(Batch<kBatch>{}, k);
  }
  for (; k < range.count; ++k) body(Batch<1>{}, k);
}

// Sums one number per channel over the rows of a block, in the order of the rows, into
// out[channel]. shared: [rows][channels].
template <int width>
__device__ inline void sum_rows(const float (&values)[width], float* shared, float* out) {
  const int channels = blockDim.x * width;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < width; i += 4) {
    *reinterpret_cast<float4*>(shared + thread * width + i) = {
        values[i], values[i + 1], values[i + 2], values[i + 3]};
  }
  __syncthreads();
  for (int c = thread; c < channels; c += blockDim.x * blockDim.y) {
    float total = 0;
    for (unsigned r = 0; r < blockDim.y; ++r) total += shared[r * channels + c];
    out[c] = total;
  }
  __syncthreads();
}

inline size_t sum_rows_bytes(const Images& shape, const Tiling& tiling) {
  return sizeof(float) * tiling.rows * shape.channels;
}

// Adds up the chunks' pairs of numbers of one image, with one block of columns x rows threads, each
// thread every rows-th chunk of its channels, in float64 into shared[channel]; join(total, chunk,
// channel, first, second) adds a pair. shared: [rows][channels].
template <class Join>
__device__ inline void join_chunks(
    const float* pairs, int chunks, int channels, double2* shared, const Join& join) {
  for (int c = threadIdx.x; c < channels; c += blockDim.x) {
    double2 total{0, 0};
#pragma unroll 4
    for (int k = threadIdx.y; k < chunks; k += blockDim.y) {
      const float* pair = pairs + static_cast<int64_t>(2) * k * channels + c;
      join(total, k, c, pair[0], pair[channels]);
    }
    shared[threadIdx.y * channels + c] = total;
  }
  __syncthreads();
  for (int c = threadIdx.y * blockDim.x + threadIdx.x; c < channels; c += blockDim.x * blockDim.y) {
    for (unsigned r = 1; r < blockDim.y; ++r) {
      shared[c].x += shared[r * channels + c].x;
      shared[c].y += shared[r * channels + c].y;
    }
  }
  __syncthreads();
}

struct JoinShape {
  dim3 block;
  size_t bytes;
};

inline JoinShape join_shape(const Images& shape, const Tiling& tiling) {
  const int columns = shape.channels < 512 ? shape.channels : 512;
  const int most = 512 / columns;
  const int rows = tiling.chunks < most ? tiling.chunks : most;
  return {dim3(columns, rows), sizeof(double2) * rows * shape.channels};
}

// Calls launch(T{}) with the type of the image.
template <class Launch>
void with_type(Scalar type, const Launch& launch) {
  switch (type) {
    case Scalar::float16:
      return launch(__half{});
    case Scalar::bfloat16:
      return launch(__nv_bfloat16{});
    case Scalar::float32:
      return launch(float{});
  }
}

}  // namespace eps::nets::cuda
