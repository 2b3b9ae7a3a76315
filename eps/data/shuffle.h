// The order in which training sees a data set: a pure function of the seed and the position.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Which image each position of an endless stream shows: epoch after epoch, each a fresh
// permutation. A run can therefore go on from any position, and several processes can share a
// stream by taking the positions in turn.
class Shuffle {
 public:
  Shuffle(int64_t size, uint64_t seed);

  // Images at the positions first, first + 1, ..., first + count - 1. Permutations are kept from
  // one call to the next, so two threads must not share an object.
  std::vector<int64_t> at(int64_t first, int64_t count) const;

 private:
  const Tensor& permutation(int64_t epoch) const;

  int64_t size_;
  uint64_t seed_;
  mutable std::map<int64_t, Tensor> permutations_;  // of the last epochs asked for
};

}  // namespace eps
