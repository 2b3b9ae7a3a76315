// Diagonals of functions of A'A by probing.
#include "eps/operators/probed.h"

#include "eps/base/random.h"

namespace eps {
namespace {

// Returns +1 and -1, one for each pixel and channel, the same for all images.
Tensor signs_like(const Tensor& like, uint64_t seed = 0) {
  const Tensor number = Rng(seed).uniform({1, like.size(1), like.size(2), like.size(3)});
  return at::where(number < 0.5, -1.0, 1.0).to(like.options());
}

}  // namespace

Tensor Probed::probe_diagonal(const Tensor& like, const Map& map) const {
  const Tensor signs = signs_like(like);
  Tensor diagonal = at::zeros_like(like);
  for (int64_t c = 0; c < like.size(1); ++c)
    for (int64_t row = 0; row < std::min(kSpacing, like.size(2)); ++row)
      for (int64_t column = 0; column < std::min(kSpacing, like.size(3)); ++column) {
        const auto places = [&](const Tensor& image) {
          return image.select(1, c)
              .slice(1, row, image.size(2), kSpacing)
              .slice(2, column, image.size(3), kSpacing);
        };
        Tensor probe = at::zeros_like(like);
        places(probe).copy_(places(signs).expand_as(places(probe)));
        places(diagonal).copy_(places(map(probe)) * places(signs));
      }
  return diagonal;
}

Tensor Probed::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  return probe_diagonal(like, [&](const Tensor& x) { return probe(x, f); });
}

Tensor Probed::mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const {
  constexpr uint64_t kProbes = 4;
  Tensor sum = at::zeros({like.size(0), 1, 1, 1}, like.options());
  for (uint64_t seed = 0; seed < kProbes; ++seed) {
    const Tensor probe = signs_like(like, seed).expand_as(like).contiguous();
    sum = sum + (probe * filter(probe, f)).mean({1, 2, 3}, true);
  }
  return sum / static_cast<double>(kProbes);
}

Tensor Probed::normal_diagonal(const Tensor& like) const {
  const std::lock_guard lock(mutex_);
  const int64_t count = A_.format().batch() == 1 ? 1 : like.size(0);
  const bool known = normal_diagonal_.defined() && normal_diagonal_.size(0) == count &&
                     normal_diagonal_.sizes().slice(1) == like.sizes().slice(1) &&
                     normal_diagonal_.device() == like.device();
  if (!known)
    normal_diagonal_ = probe_diagonal(like.slice(0, 0, count).to(at::kDouble),
                                      [this](const Tensor& probe) { return normal(probe); });
  return normal_diagonal_.to(like.options());
}

}  // namespace eps
