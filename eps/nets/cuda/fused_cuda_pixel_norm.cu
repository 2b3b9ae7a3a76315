// The norm over the channels of each pixel, fused with the operations around it, and its gradient.
//
// With v = x + offset, rstd = (mean of v^2 + eps)^(-1/2) and xhat = v rstd, z = xhat gain +
// intercept. Backward, with g = dy silu'(z) and m the mean of gain g xhat over the channels,
//   dx = rstd (gain g - xhat m).
// The threads of one pixel are lanes of one warp, so that a pixel's mean takes no shared memory.
#include "eps/nets/cuda/fused_cuda_gradients.cuh"

namespace eps::nets::cuda {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kPixelsOfLane = 8;  // of a block's chunk, at most: tables are loaded once for them
constexpr int kSums = 3;          // of g, g xhat and dx

// A `PixelTiling` divides pixels among blocks of lanes x rows threads. The lanes of a pixel, a power
// of 2, have up to kVectors of its vectors each. Each block has one chunk of pixels; chunks never
// cross images.
struct PixelTiling {
  int vectors;  // of a pixel
  int lanes, rows;
  int chunk, chunks;  // pixels in a chunk, chunks in an image

  dim3 block() const { return dim3(lanes, rows); }
};

PixelTiling pixel_tiling_of(const Images& shape) {
  PixelTiling tiling{};
  tiling.vectors = vectors_of(shape);
  tiling.lanes = 1;
  while (tiling.lanes < tiling.vectors && tiling.lanes < kWarp) tiling.lanes *= 2;
  tiling.rows = kThreads / tiling.lanes;
  for (int each = kPixelsOfLane; each >= 1; each /= 2) {
    tiling.chunk = tiling.rows * each;
    tiling.chunks = (shape.pixels + tiling.chunk - 1) / tiling.chunk;
    if (int64_t{tiling.chunks} * shape.images >= kEnoughBlocks) break;
  }
  return tiling;
}

// Returns the sum over the lanes of a pixel, in all of them. Every lane of the warp must take part.
__device__ inline float sum_of_lanes(float value, int lanes) {
  for (int apart = lanes / 2; apart > 0; apart /= 2)
    value += __shfl_xor_sync(kWholeWarp, value, apart);
  return value;
}

// A `LaneTables` holds the affine maps of the channels of one lane: z = (x + offset) * rstd * gain +
// intercept.
template <class T, int kVectors>
struct LaneTables {
  static constexpr int kNumbers = kVectors * kWidth<T>;
  float offset[kNumbers], gain[kNumbers], intercept[kNumbers];

  __device__ LaneTables(const Norm& norm, const PixelTiling& tiling, int image) {
    const int channels = tiling.vectors * kWidth<T>;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const int c = channel(tiling, i);
      const bool there = c < channels;
      const float* modulation = norm.modulation.data + image * norm.modulation.stride;
      const float scale = norm.modulation.data && there ? 1.0f + modulation[c] : 1.0f;
      const float shift = norm.modulation.data && there ? modulation[channels + c] : 0.0f;
      offset[i] =
          norm.offset.data && there ? norm.offset.data[image * norm.offset.stride + c] : 0.0f;
      gain[i] = there ? load_channel(norm.weight, c) * scale : 0.0f;
      intercept[i] = there ? load_channel(norm.bias, c) * scale + shift : 0.0f;
    }
  }
  // Returns the channel of number i: vector k of a lane is vector lane + k * lanes of the pixel.
  static __device__ int channel(const PixelTiling& tiling, int i) {
    const int k = i / kWidth<T>;
    return (static_cast<int>(threadIdx.x) + k * tiling.lanes) * kWidth<T> + i % kWidth<T>;
  }
};

// Loads the lane's vectors of a pixel; numbers beyond the pixel are 0.
template <class T, int kVectors>
__device__ inline void load_pixel(const uint4* x,
                                  const PixelTiling& tiling,
                                  bool active,
                                  float (&values)[kVectors * kWidth<T>]) {
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int vector = threadIdx.x + k * tiling.lanes;
    float own[kWidth<T>] = {};
    if (active && vector < tiling.vectors) unpack<T>(x[vector], own);
#pragma unroll
    for (int i = 0; i < kWidth<T>; ++i) values[k * kWidth<T> + i] = own[i];
  }
}

template <class T, int kVectors>
__device__ inline void store_pixel(const float (&values)[kVectors * kWidth<T>],
                                   const PixelTiling& tiling,
                                   uint4* y) {
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int vector = threadIdx.x + k * tiling.lanes;
    float own[kWidth<T>];
#pragma unroll
    for (int i = 0; i < kWidth<T>; ++i) own[i] = values[k * kWidth<T> + i];
    if (vector < tiling.vectors) y[vector] = pack<T>(own);
  }
}

template <class T, int kVectors, Epilogue epilogue>
__global__ void __launch_bounds__(kThreads) forward(const uint4* __restrict__ x,
                                                    Norm norm,
                                                    PixelTiling tiling,
                                                    int pixels,
                                                    float* __restrict__ rstds,
                                                    uint4* __restrict__ y) {
  const int image = blockIdx.x / tiling.chunks, chunk = blockIdx.x % tiling.chunks;
  const LaneTables<T, kVectors> tables(norm, tiling, image);
  const float each = 1.0f / (tiling.vectors * kWidth<T>);
  // The rounds are the same for all rows, as the lanes of a warp may belong to several.
  for (int begin = chunk * tiling.chunk; begin < min(pixels, (chunk + 1) * tiling.chunk);
       begin += tiling.rows) {
    const int pixel = begin + threadIdx.y;
    const bool active = pixel < pixels;
    const int64_t at = static_cast<int64_t>(image) * pixels + pixel;
    float values[kVectors * kWidth<T>];
    load_pixel<T, kVectors>(x + at * tiling.vectors, tiling, active, values);
    float squares = 0;
#pragma unroll
    for (int i = 0; i < kVectors * kWidth<T>; ++i) {
      values[i] += tables.offset[i];
      squares += values[i] * values[i];
    }
    const float rstd = rsqrtf(sum_of_lanes(squares, tiling.lanes) * each + norm.eps);
#pragma unroll
    for (int i = 0; i < kVectors * kWidth<T>; ++i) {
      const float z = values[i] * rstd * tables.gain[i] + tables.intercept[i];
      values[i] = epilogue == Epilogue::nothing ? z : z * sigmoid(z);
    }
    if (!active) continue;
    store_pixel<T, kVectors>(values, tiling, y + at * tiling.vectors);
    if (rstds && threadIdx.x == 0) rstds[at] = rstd;
  }
}

// Sums one number per channel over the rows of a block, in the order of the rows, into
// out[channel]. shared: [rows][lanes * kVectors * width].
template <class T, int kVectors>
__device__ inline void sum_pixels(const float (&values)[kVectors * kWidth<T>],
                                  const PixelTiling& tiling,
                                  float* shared,
                                  float* out) {
  const int channels = tiling.vectors * kWidth<T>;
  const int width = tiling.lanes * kVectors * kWidth<T>;
#pragma unroll
  for (int i = 0; i < kVectors * kWidth<T>; ++i)
    shared[threadIdx.y * width + LaneTables<T, kVectors>::channel(tiling, i)] = values[i];
  __syncthreads();
  for (int c = threadIdx.y * tiling.lanes + threadIdx.x; c < channels; c += kThreads) {
    float total = 0;
    for (int r = 0; r < tiling.rows; ++r) total += shared[r * width + c];
    out[c] = total;
  }
  __syncthreads();
}

// Computes dx, and per chunk and channel the sums of g, g xhat and dx.
template <class T, int kVectors, Epilogue epilogue>
__global__ void __launch_bounds__(kThreads) backward(const uint4* __restrict__ x,
                                                     const uint4* __restrict__ dy,
                                                     const float* __restrict__ rstds,
                                                     Norm norm,
                                                     PixelTiling tiling,
                                                     int pixels,
                                                     float* __restrict__ sums,
                                                     uint4* __restrict__ dx) {
  extern __shared__ float4 shared[];
  constexpr int kNumbers = kVectors * kWidth<T>;
  const int image = blockIdx.x / tiling.chunks, chunk = blockIdx.x % tiling.chunks;
  const LaneTables<T, kVectors> tables(norm, tiling, image);
  const float each = 1.0f / (tiling.vectors * kWidth<T>);
  float plain[kNumbers] = {}, tilted[kNumbers] = {}, through[kNumbers] = {};
  for (int begin = chunk * tiling.chunk; begin < min(pixels, (chunk + 1) * tiling.chunk);
       begin += tiling.rows) {
    const int pixel = begin + threadIdx.y;
    const bool active = pixel < pixels;
    const int64_t at = static_cast<int64_t>(image) * pixels + pixel;
    const float rstd = active ? rstds[at] : 0.0f;
    float values[kNumbers], grad[kNumbers];
    load_pixel<T, kVectors>(x + at * tiling.vectors, tiling, active, values);
    load_pixel<T, kVectors>(dy + at * tiling.vectors, tiling, active, grad);
    float mean = 0;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      values[i] = active ? (values[i] + tables.offset[i]) * rstd : 0.0f;  // xhat
      const float z = values[i] * tables.gain[i] + tables.intercept[i];
      grad[i] = through_activation<epilogue>(grad[i], z);
      plain[i] += grad[i];
      tilted[i] += grad[i] * values[i];
      grad[i] *= tables.gain[i];
      mean += grad[i] * values[i];
    }
    mean = sum_of_lanes(mean, tiling.lanes) * each;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      grad[i] = rstd * (grad[i] - values[i] * mean);
      through[i] += grad[i];
    }
    if (active) store_pixel<T, kVectors>(grad, tiling, dx + at * tiling.vectors);
  }
  const int channels = tiling.vectors * kWidth<T>;
  float* own = sums + static_cast<int64_t>(blockIdx.x) * kSums * channels;
  float* room = reinterpret_cast<float*>(shared);
  sum_pixels<T, kVectors>(plain, tiling, room, own);
  sum_pixels<T, kVectors>(tilted, tiling, room, own + channels);
  if (norm.offset.data) sum_pixels<T, kVectors>(through, tiling, room, own + 2 * channels);
}

// Adds up the chunks' sums of one image in float64, always in the same order, and writes the
// gradients of the tables. Blocks of kWarp channels x kRows threads.
constexpr int kRows = 8;
__global__ void __launch_bounds__(kWarp* kRows) join_sums(
    const float* __restrict__ sums, Norm norm, int chunks, int channels, NormGradients gradients) {
  __shared__ double parts[kSums][kRows][kWarp];
  const int image = blockIdx.x, c = blockIdx.y * kWarp + threadIdx.x;
  double total[kSums] = {};
  for (int k = threadIdx.y; c < channels && k < chunks; k += kRows) {
    const float* own = sums + (static_cast<int64_t>(image) * chunks + k) * kSums * channels + c;
    total[0] += own[0];
    total[1] += own[channels];
    if (gradients.offset) total[2] += own[2 * channels];
  }
  for (int j = 0; j < kSums; ++j) parts[j][threadIdx.y][threadIdx.x] = total[j];
  __syncthreads();
  if (threadIdx.y > 0 || c >= channels) return;
  for (int r = 1; r < kRows; ++r)
    for (int j = 0; j < kSums; ++j) total[j] += parts[j][r][threadIdx.x];
  write_gradients(norm,
                  gradients,
                  image,
                  c,
                  channels,
                  static_cast<float>(total[0]),
                  static_cast<float>(total[1]));
  if (gradients.offset)
    gradients.offset[static_cast<int64_t>(image) * channels + c] = static_cast<float>(total[2]);
}

template <int kVectors>
struct VectorCount {
  static constexpr int value = kVectors;
};

// Calls launch(T{}, VectorCount<vectors of a lane>{}).
template <class Launch>
void with_type_and_vectors(const Images& shape, const PixelTiling& tiling, const Launch& launch) {
  with_type(shape.type, [&](auto zero) {
    const int each = (tiling.vectors + tiling.lanes - 1) / tiling.lanes;
    if (each == 1) return launch(zero, VectorCount<1>{});
    if (each == 2) return launch(zero, VectorCount<2>{});
    launch(zero, VectorCount<4>{});
  });
}

}  // namespace

bool supports_pixel_norm(const Images& shape) { return supported(shape) && shape.channels <= 512; }

int64_t pixel_norm_scratch(const Images& shape) {
  return int64_t{shape.images} * pixel_tiling_of(shape).chunks * kSums * shape.channels;
}

void pixel_norm_forward(const Images& shape,
                        const Norm& norm,
                        const void* x,
                        float* rstd,
                        void* y,
                        cudaStream_t stream) {
  const PixelTiling tiling = pixel_tiling_of(shape);
  with_type_and_vectors(shape, tiling, [&](auto zero, auto vectors) {
    using T = decltype(zero);
    const auto map = norm.silu ? forward<T, vectors.value, Epilogue::silu>
                               : forward<T, vectors.value, Epilogue::nothing>;
    map<<<shape.images * tiling.chunks, tiling.block(), 0, stream>>>(static_cast<const uint4*>(x),
                                                                     norm,
                                                                     tiling,
                                                                     shape.pixels,
                                                                     rstd,
                                                                     static_cast<uint4*>(y));
  });
}

void pixel_norm_backward(const Images& shape,
                         const Norm& norm,
                         const void* x,
                         const void* dy,
                         const float* rstd,
                         float* scratch,
                         const NormGradients& gradients,
                         void* dx,
                         cudaStream_t stream) {
  const PixelTiling tiling = pixel_tiling_of(shape);
  with_type_and_vectors(shape, tiling, [&](auto zero, auto vectors) {
    using T = decltype(zero);
    const auto map = norm.silu ? backward<T, vectors.value, Epilogue::silu>
                               : backward<T, vectors.value, Epilogue::nothing>;
    const size_t bytes =
        sizeof(float) * tiling.rows * tiling.lanes * vectors.value * kWidth<T>;
    map<<<shape.images * tiling.chunks, tiling.block(), bytes, stream>>>(
        static_cast<const uint4*>(x),
        static_cast<const uint4*>(dy),
        rstd,
        norm,
        tiling,
        shape.pixels,
        scratch,
        static_cast<uint4*>(dx));
  });
  const dim3 grid(shape.images, (shape.channels + kWarp - 1) / kWarp);
  join_sums<<<grid, dim3(kWarp, kRows), 0, stream>>>(
      scratch, norm, tiling.chunks, shape.channels, gradients);
}

}  // namespace eps::nets::cuda
