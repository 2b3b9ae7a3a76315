// Functions of A'A for operators without a fast basis.
#pragma once

#include "eps/math/lanczos.h"
#include "eps/operators/probed.h"

namespace eps {

// A `Krylov` computes f(A'A) x by the Lanczos process. Its functions must be smooth on the scale of
// the spectrum: many steps resolve a function that is steep near 0.
class Krylov final : public Probed {
 public:
  using Probed::Probed;

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override;

  // The functions serve the scales of a network's input and output, where errors of this part are
  // far below the network's own; the pivot is solved by itself.
  static constexpr double kTolerance = 1e-3;
  // A strong blur's spectrum comes so near to 0 that c_in of a high noise level takes more steps
  // than there are; what is lacking then are directions of which next to nothing was measured.
  static constexpr double kAcceptable = 1e-2;

 private:
  Tensor probe(const Tensor& x, const EigenvalueMap& f) const override;

  // The space of the last x: c_in x and c_skip x of one evaluation share it.
  mutable std::mutex mutex_;
  mutable Tensor x_;
  mutable std::shared_ptr<Lanczos> space_;
};

}  // namespace eps
