// Permutations as the sorting order of random keys.
#include "eps/data/shuffle.h"

#include <algorithm>

#include "eps/base/random.h"

namespace eps {
namespace {

// Rng(seed, {n}) is also the noise of image n: another key makes the order independent of that
// noise.
constexpr uint64_t kKey = 0x53485546464c4521;
// A batch may touch the end of one epoch and the beginning of the next.
constexpr size_t kKept = 2;

}  // namespace

Shuffle::Shuffle(int64_t size, uint64_t seed) : size_(size), seed_(seed) {
  check(size >= 1, "Shuffle: at least one image is wanted, got ", size);
}

const Tensor& Shuffle::permutation(int64_t epoch) const {
  const auto found = permutations_.find(epoch);
  if (found != permutations_.end()) return found->second;
  if (permutations_.size() == kKept) permutations_.erase(permutations_.begin());
  Rng rng(seed_ ^ kKey, std::vector<uint64_t>{static_cast<uint64_t>(epoch)});
  const Tensor keys = rng.uniform({size_});
  return permutations_[epoch] = std::get<1>(at::sort(keys, /*stable=*/true, 0, false));
}

std::vector<int64_t> Shuffle::at(int64_t first, int64_t count) const {
  check(first >= 0 && count >= 0,
        "Shuffle: positions from 0 on are wanted, got ",
        count,
        " from ",
        first);
  std::vector<int64_t> images;
  images.reserve(static_cast<size_t>(count));
  for (int64_t position = first; position < first + count;) {
    const int64_t offset = position % size_;
    const int64_t taken = std::min(size_ - offset, first + count - position);
    const int64_t* order = permutation(position / size_).data_ptr<int64_t>();
    images.insert(images.end(), order + offset, order + offset + taken);
    position += taken;
  }
  return images;
}

}  // namespace eps
