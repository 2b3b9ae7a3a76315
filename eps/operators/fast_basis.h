// Functions of A'A by transforms into the basis in which it is diagonal, and back.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// A `FastBasis` has f(A'A) = V f(e) V' with a fast orthonormal transform V. Images are transformed
// into the basis once for all functions.
class FastBasis : public Spectral {
 public:
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const final {
    return from_basis(into_basis(x) * f(eigenvalues(x)));
  }
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const final {
    const Tensor inside = into_basis(x), e = eigenvalues(x);
    std::vector<Tensor> all;
    for (const EigenvalueMap& f : functions) all.push_back(from_basis(inside * f(e)));
    return all;
  }

 protected:
  virtual Tensor into_basis(const Tensor& x) const = 0;            // V' x
  virtual Tensor from_basis(const Tensor& coordinates) const = 0;  // V c
  // Returns e in the layout of the coordinates, with the type and the device of the image.
  virtual Tensor eigenvalues(const Tensor& like) const = 0;
};

}  // namespace eps
