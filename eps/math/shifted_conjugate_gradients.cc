// Shifted conjugate gradients solve (M + s_j) u_j = b for many shifts s_j with the products of one.
#include "eps/math/shifted_conjugate_gradients.h"

#include <cmath>

#include "eps/math/conjugate_gradients.h"

namespace eps {
namespace {

// A `ShiftedIteration` iterates for the smallest shift, the first, and derives the coefficients of
// the others, whose residuals are r_j = zeta_j r. It keeps the sums of all solutions, not each.
class ShiftedIteration {
 public:
  using Product = std::function<Tensor(const Tensor& u)>;  // of (N, n)

  // b: (N, n). shifts: (J, 1). weights: (N, J, sums), of s_j u_j.
  ShiftedIteration(Product product, const Tensor& b, const Tensor& shifts, const Tensor& weights)
      : product_(std::move(product)),
        smallest_(shifts[0].item<double>()),
        shift_(shifts),
        weight_(weights * shifts),
        r_(b),
        p_(b),
        rho_(square(b)),
        alpha_(at::ones_like(rho_)),
        growth_(at::zeros_like(rho_)),
        zeta_(at::ones({b.size(0), shifts.size(0), 1}, b.options())),
        zeta_before_(zeta_),
        factor_(zeta_ / shifts),
        directions_(b.unsqueeze(1).repeat({1, shifts.size(0), 1})),
        sums_(at::zeros({b.size(0), weights.size(2), b.size(1)}, b.options())) {}

  // Samples that are not active, (N, 1, 1), stay as they are.
  void step(const Tensor& active) {
    const Tensor q = product_(p_) + smallest_ * p_;
    const Tensor alpha = active * quotient_or_zero(rho_, dot(p_, q));
    // Jegerlehner 1996, Eq. (2.42), for coefficients alpha and growth that are positive.
    const Tensor unshifted = zeta_before_ * alpha_;
    const Tensor shifted =
        alpha * growth_ * (zeta_before_ - zeta_) + unshifted * (1 + (shift_ - smallest_) * alpha);
    const Tensor ratio =
        quotient_or_zero(unshifted, shifted);  // a finished shift's zeta may underflow
    const Tensor alphas = alpha * ratio;
    sums_ = sums_ + at::matmul((weight_ * alphas).transpose(1, 2), directions_);
    r_ = r_ - alpha.squeeze(2) * q;
    const Tensor rho = at::where(active, square(r_), rho_);
    const Tensor growth = active * quotient_or_zero(rho, rho_), growths = growth * ratio.square();
    p_ = r_ + growth.squeeze(2) * p_;
    zeta_before_ = at::where(active, zeta_, zeta_before_);
    zeta_ = at::where(active, zeta_ * ratio, zeta_);
    directions_.mul_(growths).addcmul_(zeta_, r_.unsqueeze(1));
    const Tensor above = (factor_ - alphas).clamp_min(0);
    factor_ = at::where(active, quotient_or_zero(above, shift_ * above + growths), factor_);
    alpha_ = at::where(active, alpha, alpha_);
    growth_ = growth;
    rho_ = rho;
  }

  const Tensor& sums() const { return sums_; }  // (N, sums, n)
  // Returns a bound of the error of each sum, (N, 1, sums).
  Tensor error() const {
    // s_j |e_j| <= s_j (e_j'(M + s_j) e_j / s_j)^(1/2) <= (s_j g_j)^(1/2) |r_j|
    const Tensor each = (weight_ / shift_).abs() * (shift_ * factor_).sqrt() * zeta_.abs();
    return each.sum(1, true) * rho_.sqrt();
  }
  static Tensor square(const Tensor& v) { return dot(v, v); }

  // Forgets the shifts whose residuals are rounding beside the first's, which are the largest.
  void drop_finished() {
    const int64_t left =
        std::max<int64_t>((zeta_.abs().amax({0, 2}) > 1e-12).sum().item<int64_t>(), 1);
    if (left == shift_.size(0)) return;
    shift_ = shift_.slice(0, 0, left);
    for (Tensor* each : {&weight_, &zeta_, &zeta_before_, &factor_, &directions_})
      *each = each->slice(1, 0, left).contiguous();
  }

 private:
  static Tensor dot(const Tensor& a, const Tensor& b) {  // (N, 1, 1)
    return batch_dot(a.unsqueeze(1), b.unsqueeze(1));
  }

  const Product product_;
  const double smallest_;
  Tensor shift_, weight_;                // (J, 1), (N, J, sums)
  Tensor r_, p_, rho_, alpha_, growth_;  // of the smallest shift: (N, n) and (N, 1, 1)
  Tensor zeta_, zeta_before_, factor_;   // of all: (N, J, 1)
  Tensor directions_;                    // (N, J, n)
  Tensor sums_;
};

}  // namespace

Tensor sums_of_resolvents(const std::function<Tensor(const Tensor&)>& product,
                          const Tensor& b,
                          const std::vector<double>& shifts,
                          const Tensor& weights,
                          const ResolventOptions& options) {
  check(!b.requires_grad() || !c10::GradMode::is_enabled(),
        "functions of an operator without a fast basis have no derivative");
  const Tensor wide = b.to(at::kDouble).flatten(1);
  const auto flat = [&](const Tensor& u) { return product(u.reshape(b.sizes())).flatten(1); };
  const Tensor w =
      weights.to(wide.options()).expand({-1, wide.size(0), -1}).permute({1, 2, 0}).contiguous();
  const Tensor first = w.select(1, 0).unsqueeze(2) * wide.unsqueeze(1);  // (N, sums, n)
  ShiftedIteration iteration(
      flat, wide, at::tensor(shifts, at::kDouble).to(b.device()).unsqueeze(1), w.slice(1, 1));
  Tensor active = ShiftedIteration::square(wide) != 0;
  for (int64_t i = 0;; ++i) {
    // Checks cost a pass over the sum and a synchronisation, and take place ever more rarely.
    if (i % std::max<int64_t>(2, (i / 16) * 2) == 0 || i == options.max_iterations) {
      const Tensor sums = first + iteration.sums();
      const Tensor rows = sums.flatten(0, 1);
      const Tensor sizes = batch_dot(rows, rows).sqrt().reshape({wide.size(0), 1, -1});
      const Tensor error = (iteration.error() / sizes).amax(2, true);
      active = at::logical_and(active, at::logical_not(error <= options.tolerance));
      if (!active.any().item<bool>()) {
        Shape shape = b.sizes().vec();
        shape.insert(shape.begin(), sums.size(1));
        return sums.transpose(0, 1).reshape(shape).to(b.scalar_type());
      }
      const double worst = at::where(active, error, at::zeros_like(error)).max().item<double>();
      check(i < options.max_iterations && !std::isnan(worst),
            "shifted conjugate gradients: the error may be ",
            worst,
            " of the result after ",
            i,
            " iterations, wanted ",
            options.tolerance);
      iteration.drop_finished();
    }
    iteration.step(active);
  }
}

}  // namespace eps
