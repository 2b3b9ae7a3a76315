// The Lanczos process, with full reorthogonalisation: the space stays small, and the products cost
// more.
#include "eps/math/lanczos.h"

#include <cmath>

namespace eps {
namespace {

constexpr int64_t kStepsBetweenChecks = 4;

// Returns 1/value, and 0 where the value is no larger than a bound.
Tensor reciprocal_or_zero(const Tensor& value, const Tensor& bound) {
  const Tensor none = value <= bound;
  return at::logical_not(none) / at::where(none, at::ones_like(value), value);
}

}  // namespace

Lanczos::Lanczos(Product product, const Tensor& b, const LanczosOptions& options)
    : product_(std::move(product)), options_(options), shape_(b.sizes().vec()) {
  check(!b.requires_grad() || !c10::GradMode::is_enabled(),
        "functions of an operator without a fast basis have no derivative");
  const Tensor flat = b.flatten(1);
  norm_ = flat.to(at::kDouble).square().sum(1).sqrt();
  basis_ = at::empty({flat.size(0), 4 * kStepsBetweenChecks, flat.size(1)}, flat.options());
  const Tensor inverse = reciprocal_or_zero(norm_, at::zeros_like(norm_));
  basis_.select(1, 0).copy_(flat * inverse.to(flat.options()).unsqueeze(1));
}

// An invariant space ends the process of a sample: its next vector is 0, and T is 0 from there on,
// beside the part that matters.
void Lanczos::step() {
  const int64_t filled = steps() + 1;
  if (filled == basis_.size(1)) basis_ = at::cat({basis_, at::empty_like(basis_)}, 1);
  const Tensor V = basis_.slice(1, 0, filled);
  const Tensor product = product_(V.select(1, filled - 1).reshape(shape_)).flatten(1);
  Tensor next = product.unsqueeze(2), overlap = at::matmul(V, next);
  diagonal_.push_back(overlap.select(1, filled - 1).squeeze(1).to(at::kDouble));
  next = next - at::matmul(V.transpose(1, 2), overlap);
  next = next - at::matmul(V.transpose(1, 2), at::matmul(V, next));
  const auto length_of = [](const Tensor& v) {
    return v.flatten(1).to(at::kDouble).square().sum(1).sqrt();
  };
  const double rounding = next.scalar_type() == at::kDouble ? 1e-13 : 1e-6;
  const Tensor length = length_of(next);
  const Tensor inverse = reciprocal_or_zero(length, rounding * length_of(product));
  beside_.push_back(at::where(inverse == 0, at::zeros_like(length), length));
  basis_.select(1, filled).copy_(next.squeeze(2) * inverse.to(next.options()).unsqueeze(1));
}

Tensor Lanczos::coefficients(const Function& f, int64_t m) const {
  const Tensor diagonal = at::stack(diagonal_, 1).slice(1, 0, m);
  const Tensor off = at::stack(beside_, 1).slice(1, 0, m - 1);
  const Tensor T = at::diag_embed(diagonal) + at::diag_embed(off, 1) + at::diag_embed(off, -1);
  const auto [values, vectors] = at::linalg_eigh(T.cpu());
  Shape shape(shape_.size(), 1);
  shape.front() = values.size(0);
  shape.back() = values.size(1);
  // Rounding may leave eigenvalues below 0, where f need not be defined.
  const Tensor f_of_values =
      f(values.clamp_min(0).reshape(shape).to(norm_.device())).cpu().expand(shape).flatten(1);
  return at::matmul(vectors, (f_of_values * vectors.select(1, 0)).unsqueeze(2))
      .squeeze(2)
      .to(norm_.device());
}

Tensor Lanczos::operator()(const Function& f) {
  const c10::NoGradGuard no_gradients;
  const auto length_of = [](const Tensor& v) { return v.square().sum(1, true).sqrt(); };
  Tensor done = at::zeros({norm_.size(0), 1}, norm_.options().dtype(at::kBool)), answer;
  for (int64_t m = kStepsBetweenChecks;; m += kStepsBetweenChecks) {
    while (steps() < m) step();
    const Tensor now = coefficients(f, m);
    if (!answer.defined()) {
      answer = now;
      continue;
    }
    // A sample that is done keeps its answer, and another one takes the newest.
    const Tensor before = at::constant_pad_nd(answer, {0, kStepsBetweenChecks});
    const Tensor change = length_of(now - before) / length_of(now).clamp_min(1e-300);
    answer = at::where(done, before, now);
    done = at::logical_or(done, change <= options_.tolerance);
    if (done.all().item<bool>()) break;
    const double worst = at::where(done, at::zeros_like(change), change).max().item<double>();
    if (m >= options_.max_steps && worst <= options_.acceptable) break;
    check(m < options_.max_steps && std::isfinite(worst),
          "Lanczos: the last steps of ",
          m,
          " changed the result by ",
          worst,
          ", wanted ",
          options_.tolerance);
  }
  const Tensor weights = (answer * norm_.unsqueeze(1)).to(basis_.scalar_type()).unsqueeze(1);
  return at::matmul(weights, basis_.slice(1, 0, weights.size(2))).reshape(shape_);
}

}  // namespace eps
