// Plain denoising: A = I.
#include "eps/operators/factories.h"
#include "eps/operators/isometry.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class Identity final : public Isometry {
 public:
  Identity() : Isometry(1, scalar(1)) {}
  Tensor apply(const Tensor& x) const override { return x; }
  Tensor adjoint(const Tensor& y) const override { return y; }
};

EPS_OPERATOR({.name = "identity",
              .summary = "plain denoising, A = I",
              .example = "identity",
              .fields = {},
              .make = [](const Spec&, const Tensor&, Rng&) { return identity(); }});

}  // namespace

Operator identity() { return std::make_shared<Identity>(); }

}  // namespace eps
