// The order of the images in training: a pure function of the seed and the position.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `Shuffle` maps the positions of an endless stream to images: epoch after epoch, each a new
// permutation. A run can therefore resume from any position, and several processes can share a
// stream by taking the positions in turn.
class Shuffle {
 public:
  Shuffle(int64_t size, uint64_t seed);

  // Returns the images at the positions first, first + 1, ..., first + count - 1. The object keeps
  // permutations between calls, so two threads must not share it.
  std::vector<int64_t> at(int64_t first, int64_t count) const;

 private:
  const Tensor& permutation(int64_t epoch) const;

  int64_t size_;
  uint64_t seed_;
  mutable std::map<int64_t, Tensor> permutations_;  // permutations of the latest epochs
};

}  // namespace eps
