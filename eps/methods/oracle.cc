// An oracle counts evaluations of the denoiser and solves with the operator.
#include "eps/methods/oracle.h"

#include <torch/csrc/autograd/autograd.h>

#include "eps/methods/recorded_mean.h"

namespace eps {
namespace {

// A `CountingOperator` counts the linear systems solved with the operator that it wraps.
class CountingOperator final : public LinearOperator {
 public:
  CountingOperator(Operator counted, Cost& cost) : counted_(std::move(counted)), cost_(cost) {}

  Tensor apply(const Tensor& x) const override { return counted_->apply(x); }
  Tensor adjoint(const Tensor& y) const override { return counted_->adjoint(y); }
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    cost_.solves += r.size(0);
    return counted_->ridge(r, lambda);
  }
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override {
    cost_.solves += z.size(0);
    return counted_->proximal(z, y, lambda);
  }
  const Spectral* spectral() const override { return counted_->spectral(); }
  const Spectral& functions() const override { return counted_->functions(); }
  bool closed_form() const override { return counted_->closed_form(); }
  const MeasurementFormat& format() const override { return counted_->format(); }

 private:
  const Operator counted_;
  Cost& cost_;
};

}  // namespace

Linearisation::Linearisation(Function denoise, const Tensor& x, int64_t chunk, Cost& cost)
    : denoise_(std::move(denoise)), x_(x.detach()), chunk_(chunk), cost_(cost) {
  if (chunk_ > 0 && chunk_ < x_.size(0)) {
    mean_ = denoise_(x_, 0, x_.size(0));
    return;
  }
  const c10::AutoGradMode gradients(true);
  leaf_ = x_.detach().requires_grad_();
  answer_ = denoise_(leaf_, 0, x_.size(0));
  mean_ = answer_.detach();
}

Tensor Linearisation::vjp(const Tensor& v) const {
  cost_.vjps += x_.size(0);
  const c10::AutoGradMode gradients(true);
  const auto product = [](const Tensor& answer, const Tensor& leaf, const Tensor& cotangent) {
    return torch::autograd::grad({answer}, {leaf}, {cotangent}, /*retain_graph=*/true)[0];
  };
  if (answer_.defined()) return product(answer_, leaf_, v);
  std::vector<Tensor> parts;
  for (int64_t begin = 0; begin < x_.size(0); begin += chunk_) {
    const int64_t end = std::min(begin + chunk_, x_.size(0));
    const Tensor leaf = x_.slice(0, begin, end).detach().requires_grad_();
    parts.push_back(product(denoise_(leaf, begin, end), leaf, v.slice(0, begin, end)));
  }
  return at::cat(parts);
}

Oracle::Oracle(const Denoiser& denoiser, const Problem& problem, int64_t vjp_batch)
    : denoiser_(denoiser),
      operator_(problem.A),
      problem_(problem),
      vjp_batch_(vjp_batch),
      posterior_(std::make_unique<RecordedMean>(
          [this](const Tensor& x_t, const Coefficients& c) { return evaluate(x_t, c); },
          denoiser.recordable())) {
  problem_.A = std::make_shared<CountingOperator>(operator_, cost_);
}

Oracle::~Oracle() = default;

bool Oracle::replays() const { return posterior_->replays(); }

void Oracle::report(const Tensor& estimates) {
  cost_.evaluations += estimates.size(0);
  if (on_estimate) on_estimate(estimates);
  if (on_evaluation) on_evaluation(estimates.size(0));
}

// The denoiser's own solves with A are no part of the cost.
Tensor Oracle::answer(Query query) const {
  if (query.A) query.A = operator_;
  return denoiser_.mean(query);
}

Tensor Oracle::ask(const Query& query) {
  const Tensor estimates = answer(query).to(query.x.scalar_type());
  report(estimates);
  return estimates;
}

Tensor Oracle::denoise(const Tensor& x, const Tensor& sigma) {
  return ask({.x = x, .sigma = sigma, .labels = labels(x.size(0), 0, x.size(0))});
}

Tensor Oracle::labels(int64_t images, int64_t begin, int64_t end) const {
  if (!problem_.labels.defined()) return {};
  return problem_.labels.repeat({images / problem_.labels.size(0), 1}).slice(0, begin, end);
}

Linearisation Oracle::linearise(const Tensor& x, const Tensor& sigma) {
  const int64_t all = x.size(0);
  const auto part = [this, sigma, all](const Tensor& images, int64_t begin, int64_t end) {
    return denoiser_
        .mean({.x = images,
               .sigma = slice_sample(sigma, begin, end),
               .labels = labels(all, begin, end)})
        .to(images.scalar_type());
  };
  const Linearisation linear(part, x, vjp_batch_, cost_);
  report(linear.mean());
  return linear;
}

Tensor Oracle::posterior_mean(const NetworkInput& input, const Tensor& x_t, const Coefficients& c) {
  const std::optional<NetworkInput> own = denoiser_.input_for(input);
  check(own.has_value(), "posterior_mean: the denoiser serves no method for ", to_string(input));
  if (*own != own_input_) posterior_->forget();
  own_input_ = *own;
  const int64_t solves = cost_.solves;
  const Tensor estimates = (*posterior_)(problem_, x_t, c).to(x_t.scalar_type());
  // A replay solves what the evaluation before it solved.
  if (!posterior_->replays()) solves_ = cost_.solves - solves;
  cost_.solves = solves + solves_;
  report(estimates);
  return estimates;
}

Tensor Oracle::evaluate(const Tensor& x_t, const Coefficients& c) {
  const Query query = make_query(own_input_, problem_, x_t, c, trajectory_);
  const PivotPath& pivots = trajectory_.pivots;
  if (pivots.iterations() > cost_.pivot_iterations) cost_.solves += x_t.size(0);
  cost_.pivot_iterations = pivots.iterations();
  cost_.pivot_error = pivots.largest_error();
  return answer(query);
}

}  // namespace eps
