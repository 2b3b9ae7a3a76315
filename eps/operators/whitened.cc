// Noise that is not one number.
#include "eps/operators/whitened.h"

#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"

namespace eps {
namespace {

// A `Weighted` is W A for a diagonal W.
class Weighted final : public LinearOperator, public Spectral {
 public:
  Weighted(Operator A, const Tensor& weights) : A_(std::move(A)), weights_(weights) {
    const Spectral* inner = A_->spectral();
    const bool per_channel = weights_.size(2) == 1 && weights_.size(3) == 1;
    const bool alike = per_channel && weights_.size(1) == 1;
    // Channels that the operator keeps apart have eigenvalues of their own.
    keeps_basis_ = inner && (inner->basis() == Basis::pixel || alike ||
                             (per_channel && inner->keeps_channels()));
  }

  Tensor apply(const Tensor& x) const override { return A_->apply(x) * weights(x); }
  Tensor adjoint(const Tensor& y) const override { return A_->adjoint(y * weights(y)); }
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    if (!keeps_basis_) return LinearOperator::ridge(r, lambda);
    // Rounding in A'r grows by 1/lambda along directions that are not measured.
    const Tensor b = adjoint(r.to(at::kDouble));
    return filter(b, [&](const Tensor& e) { return ridge_gain(e, lambda); }).to(r.scalar_type());
  }

  const Spectral* spectral() const override { return keeps_basis_ ? this : nullptr; }
  Basis basis() const override { return A_->spectral()->basis(); }
  bool keeps_channels() const override { return A_->spectral()->keeps_channels(); }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return A_->spectral()->filter(x, scaled(f, x));
  }
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override {
    std::vector<EigenvalueMap> all;
    for (const EigenvalueMap& f : functions) all.push_back(scaled(f, x));
    return A_->spectral()->filters(x, all);
  }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return A_->spectral()->diagonal(like, scaled(f, like));
  }
  Tensor quick_diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return A_->spectral()->quick_diagonal(like, scaled(f, like));
  }
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override {
    return A_->spectral()->prior_power(spectrum, like);
  }

  Tensor picture(const Tensor& y) const override {
    const Tensor w = weights(y);
    return A_->format().picture(
        at::where(w > 0, y / at::where(w > 0, w, at::ones_like(w)), at::zeros_like(y)));
  }
  Tensor measured(const Tensor& y) const override {
    return A_->format().measured(y * (weights(y) > 0));
  }
  std::map<std::string, Tensor> parameters() const override {
    auto all = A_->format().parameters();
    all["noise_weights"] = weights_;
    return all;
  }
  int64_t batch() const override { return std::max(weights_.size(0), A_->format().batch()); }

 private:
  Tensor weights(const Tensor& like) const { return weights_.to(like.options()); }
  EigenvalueMap scaled(const EigenvalueMap& f, const Tensor& like) const {
    return [f, squared = weights(like).square()](const Tensor& e) { return f(e * squared); };
  }

  const Operator A_;
  const Tensor weights_;  // (N or 1, C or 1, H or 1, W or 1), float64
  bool keeps_basis_ = false;
};

bool is_identity(const Problem& problem) {
  const Tensor x = at::zeros(problem.image(), problem.y.options().dtype(at::kDouble));
  return problem.A->apply(x).is_same(x);
}

}  // namespace

Problem whiten(const Problem& problem, const Tensor& deviation) {
  const Tensor wide = deviation.to(at::kDouble);
  check(problem.y.dim() == 4 && wide.dim() == 4,
        "noise map: an image-like measurement and a map N x C x H x W are wanted, got ",
        to_string(problem.y.sizes()),
        " and ",
        to_string(wide.sizes()));
  for (int64_t i = 0; i < 4; ++i)
    check(wide.size(i) == 1 || wide.size(i) == problem.y.size(i),
          "noise map: a map of ",
          to_string(wide.sizes()),
          " does not fit a measurement of ",
          to_string(problem.y.sizes()));
  check((wide > 0).all().item<bool>(), "noise map: deviations must be > 0");
  const Tensor precision = wide.pow(-2);
  const Tensor mean = precision.mean();
  check(mean.item<double>() > 0, "noise map: every deviation is infinite");
  const Tensor sigma = mean.rsqrt();
  const Tensor weights = sigma / wide;
  // The identity is a mask without holes, whose basis keeps a weight for every pixel.
  const Tensor& y = problem.y;
  const Operator A = is_identity(problem)
                         ? inpainting(at::ones({1, 1, y.size(2), y.size(3)}, y.options()))
                         : problem.A;
  Problem white = problem;
  white.A = std::make_shared<Weighted>(A, weights);
  white.y = y * weights.to(y.options());
  white.sigma_y = sigma.cpu();
  return white;
}

Problem whiten_spectrum(const Problem& problem, const Tensor& spectrum) {
  const Tensor& y = problem.y;
  check(y.dim() == 4, "noise spectrum: an image-like measurement is wanted");
  check((problem.A->format().measured(at::ones_like(y)) != 0).all().item<bool>(),
        "noise spectrum: every entry of y must be measured; coloured noise under a mask has no "
        "spectrum");
  const int64_t height = y.size(2), width = y.size(3);
  check(spectrum.dim() == 2 && spectrum.size(0) == height && spectrum.size(1) == width / 2 + 1,
        "noise spectrum: ",
        height,
        " x ",
        width / 2 + 1,
        " values are wanted, those of rfft2, got ",
        to_string(spectrum.sizes()));
  const Tensor power = spectrum.to(at::kDouble);
  check((power > 0).all().item<bool>(), "noise spectrum: powers must be > 0");
  const Tensor mean = spectral_mean(power.reciprocal(), width).reshape({});
  const Tensor sigma = mean.rsqrt();
  // The filter sigma / sqrt(power) as a kernel of the size of the frame, its origin at size/2.
  const Tensor response =
      filter_spectrum(unit_impulse(height, width, power.options()), sigma * power.rsqrt());
  const Tensor kernel = at::roll(response, {height / 2, width / 2}, {2, 3}).squeeze(1);
  const Operator filter = circular_blur(kernel.to(y.device()), height, width);
  Problem white = problem;
  white.A = is_identity(problem) ? filter : compose(problem.A, filter);
  white.y = filter->apply(y);
  white.sigma_y = sigma.cpu();
  return white;
}

Tensor signal_deviation(const Tensor& y, double a, double b, double floor) {
  check(a > 0 && b >= 0, "noise: a > 0 and b >= 0 are wanted, got ", a, " and ", b);
  return (a * a + b * (y.to(at::kDouble) - floor).clamp_min(0)).sqrt();
}

}  // namespace eps
