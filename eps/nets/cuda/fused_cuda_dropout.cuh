// Dropout inside the norm's kernels: Philox 4x32-10 (Salmon et al. 2011), 16 bits for each number.
#pragma once

#include "eps/nets/cuda/fused_cuda_kernels.h"

namespace eps::nets::cuda {

// An `Epilogue` is the operation that follows the norm.
enum class Epilogue { nothing, silu, silu_and_dropout };

// A `Keep` holds the threshold below which 16 random bits keep an element, and the factor of kept
// elements.
struct Keep {
  unsigned threshold;
  float scale;
};

__device__ inline Keep keep_of(const Dropout& dropout) {
  const unsigned threshold = max(1u, __float2uint_rn(dropout.keep * 65536.0f));
  return {threshold, 65536.0f / static_cast<float>(threshold)};
}

struct PhiloxKey {
  uint64_t seed, offset;
};

__device__ inline PhiloxKey key_of(const PhiloxState& state) {
  if (!state.seed_at) return {state.seed, state.offset};
  return {static_cast<uint64_t>(*state.seed_at),
          static_cast<uint64_t>(*state.offset_at) + state.offset};
}

// Returns the four numbers of subsequence `index` at the key's offset, which counts numbers.
__device__ inline uint4 philox(const PhiloxKey& key, uint64_t index) {
  const uint64_t step = key.offset / 4;
  uint4 counter{static_cast<unsigned>(step),
                static_cast<unsigned>(step >> 32),
                static_cast<unsigned>(index),
                static_cast<unsigned>(index >> 32)};
  unsigned first = static_cast<unsigned>(key.seed);
  unsigned second = static_cast<unsigned>(key.seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xD2511F53u * counter.x, high0 = __umulhi(0xD2511F53u, counter.x);
    const unsigned low1 = 0xCD9E8D57u * counter.z, high1 = __umulhi(0xCD9E8D57u, counter.z);
    counter = {high1 ^ counter.y ^ first, low1, high0 ^ counter.w ^ second, low0};
    first += 0x9E3779B9u;
    second += 0xBB67AE85u;
  }
  return counter;
}

// Returns a mask whose bit i is set if element i of vector `index` is kept.
template <int width>
__device__ inline unsigned draw_kept(const PhiloxKey& key, int64_t index, unsigned threshold) {
  const uint4 random = philox(key, static_cast<uint64_t>(index));
  const unsigned words[4] = {random.x, random.y, random.z, random.w};
  unsigned kept = 0;
#pragma unroll
  for (int i = 0; i < width; ++i) {
    const unsigned bits = i < 4 ? words[i] & 0xffffu : words[i - 4] >> 16;
    kept |= (bits < threshold ? 1u : 0u) << i;
  }
  return kept;
}

template <int width>
__device__ inline void drop(unsigned kept, float scale, float (&values)[width]) {
#pragma unroll
  for (int i = 0; i < width; ++i) values[i] = kept >> i & 1u ? values[i] * scale : 0.0f;
}

}  // namespace eps::nets::cuda
