// The defaults of operators: conjugate gradients and the residual form.
#include "eps/operators/operator.h"

#include "eps/base/lasting.h"
#include "eps/math/conjugate_gradients.h"
#include "eps/math/spectrum.h"
#include "eps/operators/krylov.h"

namespace eps {

Tensor LinearOperator::ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor b = adjoint(r.to(at::kDouble));
  const Tensor shift = per_sample(lambda, b);
  const auto normal = [&](const Tensor& u) { return adjoint(apply(u)) + shift * u; };
  // The noise level 80 makes lambda 4e-7: a strong blur before a mask then takes 11,000 steps.
  return conjugate_gradients(normal, b, {.tolerance = 1e-11, .max_iterations = 30000})
      .to(r.scalar_type());
}

Tensor LinearOperator::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  return z + ridge(y - apply(z), lambda);
}

std::vector<Tensor> Spectral::filters(const Tensor& x,
                                      const std::vector<EigenvalueMap>& functions) const {
  std::vector<Tensor> all;
  for (const EigenvalueMap& f : functions) all.push_back(filter(x, f));
  return all;
}

Tensor Spectral::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  std::vector<Tensor> entries;
  const int64_t pixels = like[0].numel();
  for (int64_t place = 0; place < pixels; ++place) {
    // Every image of the batch gets the impulse, as each may have a map of its own.
    const Tensor impulse = at::zeros_like(like, at::MemoryFormat::Contiguous);
    impulse.flatten(1).select(1, place).fill_(1);
    entries.push_back(filter(impulse, f).flatten(1).select(1, place));
  }
  return at::stack(entries, 1).reshape(like.sizes());
}

Tensor Spectral::normal_diagonal(const Tensor& like) const {
  return diagonal(like, [](const Tensor& e) { return e; });
}

Tensor Spectral::mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const {
  return diagonal(like, f).expand_as(like).mean({1, 2, 3}, true);
}

EigenvalueMap Spectral::prior_power(const Tensor& spectrum, const Tensor& like) const {
  const Tensor mean = spectral_mean(spectrum, like.size(3)).reshape({});
  return [mean](const Tensor&) { return mean; };
}

EigenvalueMap Spectral::kept_prior_power(const Tensor& spectrum,
                                         const Tensor& like,
                                         int64_t maps) const {
  const std::lock_guard lock(mutex_);
  const bool same =
      power_ && spectrum_.is_same(spectrum) && image_.sizes().slice(1) == like.sizes().slice(1) &&
      (maps == 1 || image_.size(0) == like.size(0)) && image_.options().type_equal(like.options());
  if (!same) {
    const Lasting power;
    power_ = prior_power(spectrum, like);
    spectrum_ = spectrum;
    image_ = at::empty({1}, like.options()).expand(like.sizes());
  }
  return power_;
}

const Spectral& LinearOperator::functions() const {
  if (const Spectral* fast = spectral()) return *fast;
  std::call_once(once_, [this] { functions_ = make_functions(); });
  return *functions_;
}

std::unique_ptr<const Spectral> LinearOperator::make_functions() const {
  return std::make_unique<Krylov>(*this);
}

const Spectral& spectral_of(const LinearOperator& A, const char* who) {
  check(A.spectral(),
        who,
        " needs an operator whose A'A is diagonal in a fast basis; this one's is not");
  return *A.spectral();
}

Tensor Problem::measurements() const {
  return A->format().measured(at::ones_like(y, at::kDouble)).flatten(1).sum(1);
}

Shape Problem::image() const { return A->format().picture(y).sizes().vec(); }

Problem observe(Operator A, const Tensor& x0, const Tensor& sigma_y, Rng& rng) {
  const Tensor clean = A->apply(x0);
  const Tensor noise = rng.normal(clean.sizes().vec(), clean.options());
  return {A, clean + A->format().measured(per_sample(sigma_y, clean) * noise), sigma_y, {}};
}

Tensor per_sample(const Tensor& value, const Tensor& like) {
  // A 0-dimensional CPU tensor meets tensors of any dtype and device without promotion or copy.
  if (value.dim() == 0) return value.is_cpu() ? value : value.to(like.device());
  Shape shape(static_cast<size_t>(like.dim()), 1);
  shape[0] = value.size(0);
  return value.to(like.options()).reshape(shape);
}

Tensor slice_sample(const Tensor& value, int64_t begin, int64_t end) {
  return value.numel() == 1 ? value : value.slice(0, begin, end);
}

Tensor ridge_gain(const Tensor& eigenvalue, const Tensor& lambda) {
  const Tensor outside = eigenvalue == 0;
  return at::logical_not(outside) / (eigenvalue + per_sample(lambda, eigenvalue) + outside);
}

void check_image_size(const char* name, const Tensor& x, int64_t height, int64_t width) {
  check(x.size(2) == height && x.size(3) == width,
        name,
        ": made for images of ",
        height,
        " x ",
        width,
        " pixels, got ",
        x.size(2),
        " x ",
        x.size(3));
}

}  // namespace eps
