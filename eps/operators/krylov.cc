// Functions of A'A by the Lanczos process.
#include "eps/operators/krylov.h"

namespace eps {

Tensor Krylov::filter(const Tensor& x, const EigenvalueMap& f) const {
  const std::lock_guard lock(mutex_);
  if (!x_.is_same(x)) {
    x_ = x;
    space_ = std::make_shared<Lanczos>(
        [this](const Tensor& u) { return normal(u); },
        x,
        LanczosOptions{.tolerance = kTolerance, .acceptable = kAcceptable});
  }
  return (*space_)(f).to(x.options());
}

Tensor Krylov::probe(const Tensor& x, const EigenvalueMap& f) const {
  return Lanczos([this](const Tensor& u) { return normal(u); }, x)(f);
}

}  // namespace eps
