// Compressed sensing by a subsampled, randomised Walsh-Hadamard transform: A = m H D.
//
// H is orthonormal and symmetric, D = diag(signs): A'A = D H m H D, diagonal in the basis H D.
#include <cmath>

#include "eps/operators/factories.h"
#include "eps/operators/fast_basis.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// Returns the orthonormal transform along one dimension, by log2(n) butterflies.
Tensor hadamard_along(Tensor x, int64_t dim) {
  const int64_t n = x.size(dim);
  x = x.movedim(dim, -1).contiguous();
  const Shape shape = x.sizes().vec();
  for (int64_t half = 1; half < n; half *= 2) {
    const Tensor pairs = x.reshape({-1, 2, half});
    const Tensor a = pairs.select(1, 0), b = pairs.select(1, 1);
    x = at::stack({a + b, a - b}, 1);
  }
  return x.reshape(shape).movedim(-1, dim) / std::sqrt(static_cast<double>(n));
}

Tensor hadamard2(const Tensor& x) { return hadamard_along(hadamard_along(x, 3), 2); }

class SubsampledHadamard final : public LinearOperator, public FastBasis {
 public:
  SubsampledHadamard(const Tensor& mask, const Tensor& signs)
      : mask_(mask.to(at::kDouble).unsqueeze(1)), signs_(signs.to(at::kDouble).unsqueeze(1)) {}

  Tensor apply(const Tensor& x) const override {
    check_image_size("hadamard", x, mask_.size(2), mask_.size(3));
    return measured(into_basis(x));
  }
  Tensor adjoint(const Tensor& y) const override { return from_basis(measured(y)); }

  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return from_basis(measured(r) / (1 + per_sample(lambda, r)));
  }
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  // Every entry of H D has the same square.
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return f(mask_.to(like.options())).mean({2, 3}, true);
  }

  Tensor measured(const Tensor& y) const override { return y * mask_.to(y.options()); }
  std::map<std::string, Tensor> parameters() const override {
    return {{"mask", mask_.squeeze(1)}, {"signs", signs_.squeeze(1)}};
  }
  int64_t batch() const override { return mask_.size(0); }

 private:
  Tensor into_basis(const Tensor& x) const override {
    return hadamard2(x * signs_.to(x.options()));
  }
  Tensor from_basis(const Tensor& coordinates) const override {
    return hadamard2(coordinates) * signs_.to(coordinates.options());
  }
  Tensor eigenvalues(const Tensor& like) const override { return mask_.to(like.options()); }

  const Tensor mask_;   // (N or 1, 1, H, W)
  const Tensor signs_;  // likewise
};

Operator make_hadamard(const Spec& spec, const Tensor& like, Rng& rng) {
  const double keep = spec.real("keep");
  check(is_power_of_two(like.size(2)) && is_power_of_two(like.size(3)),
        "hadamard: height and width must be powers of 2, got ",
        like.size(2),
        " x ",
        like.size(3));
  const Shape shape{like.size(0), like.size(2), like.size(3)};
  const Tensor mask = rng.uniform(shape) < keep;
  const Tensor signs = (rng.uniform(shape) < 0.5).to(at::kDouble) * 2 - 1;
  return subsampled_hadamard(mask.to(like.device()), signs.to(like.device()));
}

EPS_OPERATOR(
    {.name = "hadamard",
     .summary = "compressed sensing: random rows of a sign-randomised Walsh-Hadamard transform",
     .example = "hadamard:keep=0.5",
     .fields = {Field::real(
         "keep", "0.25", {0, 1}, "fraction of the coefficients that are measured")},
     .strengths = {"keep"},
     .make = make_hadamard,
     .is_random = [](const Spec&) { return true; }});

}  // namespace

Operator subsampled_hadamard(const Tensor& mask, const Tensor& signs) {
  check(mask.dim() == 3 && signs.sizes() == mask.sizes(),
        "hadamard: mask and signs must be N x H x W, got ",
        to_string(mask.sizes()),
        " and ",
        to_string(signs.sizes()));
  check(is_power_of_two(mask.size(1)) && is_power_of_two(mask.size(2)),
        "hadamard: height and width must be powers of 2, got ",
        mask.size(1),
        " x ",
        mask.size(2));
  return std::make_shared<SubsampledHadamard>(mask, signs);
}

}  // namespace eps
