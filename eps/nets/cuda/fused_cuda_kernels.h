// The CUDA kernels between the convolutions, on raw pointers, for eps/nets/cuda/fused_cuda.cc.
//
// An image is channels-last: pixel p of image n has its C numbers at (n * pixels + p) * C. All
// tables are float32. The host reads nothing back and no sum uses atomics: launches can be captured
// in a graph, and the same input gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace eps::nets::cuda {

enum class Scalar { float32, float16, bfloat16 };

struct Images {
  Scalar type = Scalar::float32;
  int images = 0, pixels = 0, channels = 0;  // pixels of one image
};

// Returns whether the kernels accept such images: channels fill whole vectors of 16 bytes, at most
// 2048.
bool supported(const Images& shape);

// A `Channels` holds one number per channel, in any of the types.
struct Channels {
  const void* data = nullptr;
  Scalar type = Scalar::float32;
};

// An `ImageTable` has one row per image, or one row for all images (stride 0); null when absent.
struct ImageTable {
  const float* data = nullptr;
  int64_t stride = 0;
};

struct Norm {
  int groups = 1;
  float eps = 0;
  Channels weight, bias;
  ImageTable offset;      // rows of C, added to the image before the norm
  ImageTable modulation;  // rows of 2 C: scales and shifts after the norm
  bool silu = false;      // must be set with dropout
};

// A `ChannelAffine` holds the affine maps of each channel of each image, (images, channels) each:
// xhat = (x - center) * rstd, z = xhat * gain + intercept, y = silu(z) or z.
struct ChannelAffine {
  float* center;
  float* rstd;
  float* gain;
  float* intercept;
  float* mean_xhat;  // mean over the pixels
};

// A `PhiloxState` holds Philox's key and counter from ATen's generators: the numbers themselves or,
// during the capture of a graph, their addresses (offset is then added to the number at offset_at).
struct PhiloxState {
  uint64_t seed = 0, offset = 0;
  const int64_t* seed_at = nullptr;
  const int64_t* offset_at = nullptr;
};

// A `Dropout` multiplies y, after silu, by 1 / keep with probability keep, and by 0 otherwise. An
// element takes 16 random bits: keep is rounded to a multiple of 2^-16, and 1 / keep is exact for
// the rounded value.
struct Dropout {
  float keep = 1;  // 1: none
  PhiloxState random;
  // `kept` is a mask with one byte for each 16 bytes of the image: bit i is set if element i was
  // kept. norm_forward writes the mask unless null, and norm_backward reads it.
  uint8_t* kept = nullptr;
};

// norm_forward advances the generator by this many Philox numbers per thread.
constexpr uint64_t kDropoutDraws = 4;

// Returns the numbers of scratch memory that norm_forward and norm_backward need.
int64_t norm_scratch(const Images& shape);

// Computes the norm. Reads x twice and writes y: 3 images of traffic.
void norm_forward(const Images& shape,
                  const Norm& norm,
                  const Dropout& dropout,
                  const void* x,
                  float* scratch,
                  const ChannelAffine& affine,
                  void* y,
                  cudaStream_t stream);

// `NormGradients` holds gradients, each (images, channels) unless null. Those of weight and bias
// are still to be summed over the images, and so are those of tables with one row for all images.
struct NormGradients {
  float* weight;
  float* bias;
  float* offset;
  float* modulation;  // (images, 2 channels)
};

// Computes the gradients of the norm. Reads x and dy twice and writes dx: 5 images of traffic.
void norm_backward(const Images& shape,
                   const Norm& norm,
                   const Dropout& dropout,
                   const void* x,
                   const void* dy,
                   const ChannelAffine& affine,
                   float* scratch,
                   const NormGradients& gradients,
                   void* dx,
                   cudaStream_t stream);

// Returns whether the kernels below accept such images: channels fill whole vectors of 16 bytes, at
// most 512.
bool supports_pixel_norm(const Images& shape);

// Computes xhat = v / (mean of v^2 over the channels of the pixel + eps)^(1/2), v = x + offset, and
// y = act(xhat * gain + intercept) as norm_forward does; the norm's groups do not count. rstd:
// (images * pixels), the factor of each pixel for the backward pass, or null. 2 images of traffic.
void pixel_norm_forward(const Images& shape,
                        const Norm& norm,
                        const void* x,
                        float* rstd,
                        void* y,
                        cudaStream_t stream);

// Returns the numbers of scratch memory that pixel_norm_backward needs.
int64_t pixel_norm_scratch(const Images& shape);

// Computes the gradients of pixel_norm_forward. 3 images of traffic.
void pixel_norm_backward(const Images& shape,
                         const Norm& norm,
                         const void* x,
                         const void* dy,
                         const float* rstd,
                         float* scratch,
                         const NormGradients& gradients,
                         void* dx,
                         cudaStream_t stream);

// Computes y = (h + x + bias) * scale, with bias (C) or null; y may be h. 3 images of traffic.
void residual_forward(const Images& shape,
                      const void* h,
                      const void* x,
                      const float* bias,
                      float scale,
                      void* y,
                      cudaStream_t stream);

// Returns the rows of the table of sums that residual_backward writes.
int residual_sums(const Images& shape);

// Computes dx = dy * scale unless dx is null, and, unless sums is null, partial sums
// (residual_sums(), C) that add up to the sum of dy * scale over all pixels. Pixels of dy are
// `stride` numbers apart. 2 images of traffic.
void residual_backward(const Images& shape,
                       const void* dy,
                       int64_t stride,
                       float scale,
                       void* dx,
                       float* sums,
                       cudaStream_t stream);

}  // namespace eps::nets::cuda
