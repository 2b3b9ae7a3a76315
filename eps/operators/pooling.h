// s x s average pooling. `AveragePool` has a header because compose() recognises the class behind a
// blur.
#pragma once

#include "eps/operators/isometry.h"

namespace eps {

// An `AveragePool` has A A' = I / s^2, and its A^+ is nearest-neighbour upsampling.
class AveragePool final : public Isometry {
 public:
  explicit AveragePool(int64_t factor);

  Tensor apply(const Tensor& x) const override;
  Tensor adjoint(const Tensor& y) const override;
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override;
  Tensor picture(const Tensor& y) const override;

  int64_t factor() const { return s_; }

 private:
  const int64_t s_;
};

}  // namespace eps
