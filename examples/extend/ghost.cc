// A ghost: the scene's mirror image laid over it, as behind glass. A x = (1 - w) x + w R x.
//
// R mirrors left and right. A is symmetric: it keeps the even part of x and multiplies the odd part
// by g = 1 - 2 w, so A'A has the eigenvalues 1 and g^2.
#include "eps/operators/registry.h"

namespace eps {
namespace {

class Ghost final : public LinearOperator, public Spectral {
 public:
  explicit Ghost(const Tensor& strength) : strength_(strength), gain_(1 - 2 * strength) {}

  Tensor apply(const Tensor& x) const override { return combine(x, 1, gain_.to(x.options())); }
  Tensor adjoint(const Tensor& y) const override { return apply(y); }

  // Even part: 1 / (1 + lambda). Odd part: g / (g^2 + lambda), and 0 where g = 0, whatever lambda.
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    const Tensor g = gain_.to(r.options()), shift = per_sample(lambda, r);
    return combine(r, 1 / (1 + shift), g / (g.square() + shift + (g == 0)));
  }

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return combine(x, f(at::ones({1, 1, 1, 1}, x.options())), f(gain_.to(x.options()).square()));
  }

  Tensor picture(const Tensor& y) const override { return y; }
  std::map<std::string, Tensor> parameters() const override { return {{"strength", strength_}}; }
  int64_t batch() const override { return strength_.size(0); }

 private:
  // even * (even part of x) + odd * (odd part of x).
  template <class Even>
  Tensor combine(const Tensor& x, const Even& even, const Tensor& odd) const {
    const Tensor mirrored = x.flip({3});
    return even * (x + mirrored) / 2 + odd * (x - mirrored) / 2;
  }

  const Tensor strength_, gain_;  // (N, 1, 1, 1), float64
};

Operator make_ghost(const Spec& spec, const Tensor& like, Rng& rng) {
  return std::make_shared<Ghost>(draw_in(spec.range("strength"), like, rng).to(like.device()));
}

EPS_OPERATOR({.name = "ghost",
              .summary = "the mirror image of the scene laid over it",
              .example = "ghost:strength=0.3",
              .fields = {Field::range(
                  "strength", "0.3", {0, 1}, "weight of the mirror; a..b draws one per image")},
              .strengths = {"strength"},
              .make = make_ghost,
              .is_random = random_ranges({"strength"})});

}  // namespace
}  // namespace eps
