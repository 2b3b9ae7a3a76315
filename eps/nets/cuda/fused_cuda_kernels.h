// The CUDA kernels between the convolutions, by raw pointers: what eps/nets/fused_cuda.cc calls.
//
// An image is channels-last: pixel p of image n has its C numbers at (n * pixels + p) * C. All
// tables are float32. Nothing is read back by the host and no sum is made by atomics: launches can
// be captured in a graph, and the same input gives the same bits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace eps::nets::cuda {

enum class Scalar { float32, float16, bfloat16 };

struct Images {
  Scalar type = Scalar::float32;
  int images = 0, pixels = 0, channels = 0;  // pixels of one image
};

// Whether the kernels take such images: channels fill whole vectors of 16 bytes, at most 2048.
bool supported(const Images& shape);

// One number per channel, in any of the types.
struct Channels {
  const void* data = nullptr;
  Scalar type = Scalar::float32;
};

// One row per image, or one for all (stride 0); null when absent.
struct Rows {
  const float* data = nullptr;
  int64_t stride = 0;
};

struct Norm {
  int groups = 1;
  float eps = 0;
  Channels weight, bias;
  Rows offset;        // rows of C, added to the image before
  Rows modulation;    // rows of 2 C: scales and shifts after
  bool silu = false;  // wanted where there is dropout
};

// What each channel of each image goes through, (images, channels) each:
// xhat = (x - center) * rstd, z = xhat * gain + intercept, y = silu(z) or z.
struct Lines {
  float* center;
  float* rstd;
  float* gain;
  float* intercept;
  float* mean_xhat;  // over the pixels
};

// Philox's key and counter, as ATen's generators give them: the numbers themselves or, while a
// graph is captured, where they will be found (offset is then added to what is there).
struct PhiloxState {
  uint64_t seed = 0, offset = 0;
  const int64_t* seed_at = nullptr;
  const int64_t* offset_at = nullptr;
};

// After silu, y is multiplied by 1 / keep with probability keep, and by 0 otherwise. A number takes
// 16 random bits: keep is rounded to a multiple of 2^-16, and 1 / keep is exact for that.
struct Dropout {
  float keep = 1;  // 1: none
  PhiloxState random;
  // One byte for each 16 bytes of the image, bit i for number i: was it kept? Written forward
  // unless null, read backward.
  uint8_t* kept = nullptr;
};

// Philox numbers that a thread draws from the generator's sequence: what norm_forward uses up.
constexpr uint64_t kDropoutDraws = 4;

// Numbers of scratch memory that norm_forward and norm_backward need.
int64_t norm_scratch(const Images& shape);

// Reads x twice and writes y: 3 images of traffic.
void norm_forward(const Images& shape,
                  const Norm& norm,
                  const Dropout& dropout,
                  const void* x,
                  float* scratch,
                  const Lines& lines,
                  void* y,
                  cudaStream_t stream);

// Each (images, channels), unless null. Those of weight and bias are still to be summed over the
// images, and so are the others where one row served all images.
struct NormGradients {
  float* weight;
  float* bias;
  float* offset;
  float* modulation;  // (images, 2 channels)
};

// Reads x and dy twice and writes dx: 5 images of traffic.
void norm_backward(const Images& shape,
                   const Norm& norm,
                   const Dropout& dropout,
                   const void* x,
                   const void* dy,
                   const Lines& lines,
                   float* scratch,
                   const NormGradients& gradients,
                   void* dx,
                   cudaStream_t stream);

// y = (h + x + bias) * scale, the bias (C) or null; y may be h. 3 images of traffic.
void residual_forward(const Images& shape,
                      const void* h,
                      const void* x,
                      const float* bias,
                      float scale,
                      void* y,
                      cudaStream_t stream);

// Rows of the table of sums that residual_backward writes.
int residual_sums(const Images& shape);

// dx = dy * scale unless dx is null, and, unless sums is null, sums (residual_sums(), C) that add
// up to the sum of dy * scale over all pixels. Pixels of dy are `stride` numbers apart. 2 images of
// traffic.
void residual_backward(const Images& shape,
                       const void* dy,
                       int64_t stride,
                       float scale,
                       void* dx,
                       float* sums,
                       cudaStream_t stream);

}  // namespace eps::nets::cuda
