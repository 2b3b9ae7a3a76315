// The parts of the norms' backward passes that do not depend on what is averaged.
#pragma once

#include "eps/nets/cuda/fused_cuda_dropout.cuh"
#include "eps/nets/cuda/fused_cuda_vectors.cuh"

namespace eps::nets::cuda {

// Returns dy silu'(z), where silu'(z) = s (1 + z (1 - s)) and s = sigmoid(z).
template <Epilogue epilogue>
__device__ inline float through_activation(float dy, float z) {
  if (epilogue == Epilogue::nothing) return dy;
  const float s = sigmoid(z);
  return dy * s * (1.0f + z * (1.0f - s));
}

// Writes the gradients of the tables for one channel of one image, from the sums over its pixels of
// g, the gradient behind the modulation, and of g xhat.
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

}  // namespace eps::nets::cuda
