// Operators whose verbs take part in derivatives.
#include "differentiable.h"

#include <torch/csrc/autograd/custom_function.h>

#include "binding.h"

namespace eps::python {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;
using Map = std::function<Tensor(const Tensor&)>;

// A `Kept` carries a value from forward() to backward().
template <class Value>
struct Kept final : torch::CustomClassHolder {
  explicit Kept(Value kept) : value(std::move(kept)) {}
  Value value;
};
template <class Value>
void keep(AutogradContext* ctx, Value value) {
  ctx->saved_data["kept"] =
      c10::IValue::make_capsule(c10::make_intrusive<Kept<Value>>(std::move(value)));
}
template <class Value>
const Value& kept(AutogradContext* ctx) {
  return static_cast<const Kept<Value>&>(*ctx->saved_data["kept"].toCapsule()).value;
}

struct Linear {
  Map map, transposed;
};
Tensor linear(const Tensor& x, const Linear& pair);

struct LinearFunction : Function<LinearFunction> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Linear& pair) {
    keep(ctx, pair);
    return pair.map(x);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& g) {
    const Linear& pair = kept<Linear>(ctx);
    return {linear(g[0].contiguous(), {pair.transposed, pair.map}), {}};
  }
};

Tensor linear(const Tensor& x, const Linear& pair) {
  return is_recorded(x) ? LinearFunction::apply(x, pair) : pair.map(x);
}

Tensor apply_of(const Operator& A, const Tensor& x) {
  return linear(x,
                {[A](const Tensor& v) { return A->apply(v); },
                 [A](const Tensor& v) { return A->adjoint(v); }});
}
Tensor adjoint_of(const Operator& A, const Tensor& y) {
  return linear(y,
                {[A](const Tensor& v) { return A->adjoint(v); },
                 [A](const Tensor& v) { return A->apply(v); }});
}

Tensor proximal_of(const Operator& A, const Tensor& z, const Tensor& y, const Tensor& lambda);

// Returns a gradient in the shape and type of what it belongs to.
Tensor shaped(const Tensor& gradient, const Tensor& like) {
  return at::sum_to(gradient, like.sizes()).to(like.options());
}

struct ProximalFunction : Function<ProximalFunction> {
  static Tensor forward(AutogradContext* ctx,
                        const Tensor& z,
                        const Tensor& y,
                        const Tensor& lambda,
                        const Operator& A) {
    const Tensor mu = A->proximal(z, y, lambda);
    ctx->save_for_backward({z, y, lambda, mu});
    keep(ctx, A);
    return mu;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto saved = ctx->get_saved_variables();
    const Tensor &z = saved[0], &y = saved[1], &lambda = saved[2], &mu = saved[3];
    const Operator& A = kept<Operator>(ctx);
    check((lambda > 0).all().item<bool>(), "pivot: derivatives need sigma_y > 0");
    // In float64: u = proximal(g / lambda, 0, lambda) cancels by 1 / lambda, which reaches 1e7.
    const Tensor g = gradients[0].to(at::kDouble).contiguous();
    const Tensor shift = per_sample(lambda, g);
    const Tensor u =
        proximal_of(A, g / shift, at::zeros_like(y, at::kDouble), lambda.to(at::kDouble));
    const bool wants_y = ctx->needs_input_grad(1), wants_lambda = ctx->needs_input_grad(2);
    return {shaped(shift * u, z),
            wants_y ? shaped(apply_of(A, u), y) : Tensor(),
            wants_lambda ? shaped((u * (z - mu)).sum({1, 2, 3}, true), lambda) : Tensor(),
            {}};
  }
};

Tensor proximal_of(const Operator& A, const Tensor& z, const Tensor& y, const Tensor& lambda) {
  const bool recorded = is_recorded(z) || is_recorded(y) || is_recorded(lambda);
  if (!recorded) return A->proximal(z, y, lambda);
  const int64_t batch = std::max(z.size(0), y.size(0));
  const auto whole = [&](const Tensor& t) {
    Shape sizes = t.sizes().vec();
    sizes[0] = batch;
    return t.expand(sizes);
  };
  return ProximalFunction::apply(whole(z), whole(y), lambda, A);
}

class DifferentiableSpectral final : public Spectral {
 public:
  explicit DifferentiableSpectral(Operator A) : A_(std::move(A)), inner_(A_->functions()) {}

  Basis basis() const override { return inner_.basis(); }
  bool keeps_channels() const override { return inner_.keeps_channels(); }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return is_recorded(x) ? recorded(x, f) : inner_.filter(x, f);
  }
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override {
    if (!is_recorded(x)) return inner_.filters(x, functions);
    std::vector<Tensor> all;
    for (const EigenvalueMap& f : functions) all.push_back(recorded(x, f));
    return all;
  }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    const c10::NoGradGuard none;
    return inner_.diagonal(like.detach(), f);
  }
  Tensor normal_diagonal(const Tensor& like) const override {
    const c10::NoGradGuard none;
    return inner_.normal_diagonal(like.detach());
  }
  Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const override {
    const c10::NoGradGuard none;
    return inner_.mean_eigenvalue(like.detach(), f);
  }
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override {
    const c10::NoGradGuard none;
    return inner_.prior_power(spectrum, like.detach());
  }

 private:
  Tensor recorded(const Tensor& x, const EigenvalueMap& f) const {
    const Map map = [A = A_, inner = &inner_, f](const Tensor& v) { return inner->filter(v, f); };
    return linear(x, {map, map});
  }

  const Operator A_;
  const Spectral& inner_;
};

class Differentiable final : public LinearOperator {
 public:
  explicit Differentiable(Operator A) : A_(std::move(A)) {}

  Tensor apply(const Tensor& x) const override { return apply_of(A_, x); }
  Tensor adjoint(const Tensor& y) const override { return adjoint_of(A_, y); }
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    if (!is_recorded(r) && !is_recorded(lambda)) return A_->ridge(r, lambda);
    return proximal_of(A_, at::zeros_like(A_->format().picture(r.detach())), r, lambda);
  }
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override {
    return proximal_of(A_, z, y, lambda);
  }
  const Spectral* spectral() const override { return A_->spectral() ? &functions() : nullptr; }
  const Spectral& functions() const override {
    std::call_once(once_, [this] { spectral_ = std::make_unique<DifferentiableSpectral>(A_); });
    return *spectral_;
  }
  // Iterations are not recorded: a pivot is solved in one call of proximal().
  bool closed_form() const override { return true; }
  bool recordable() const override { return A_->recordable(); }
  const MeasurementFormat& format() const override { return A_->format(); }
  Tensor structural_diagonal(const Tensor& like) const override {
    return A_->structural_diagonal(like);
  }

 private:
  const Operator A_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<DifferentiableSpectral> spectral_;
};

}  // namespace

Operator differentiable(const Operator& A) { return std::make_shared<Differentiable>(A); }

}  // namespace eps::python
