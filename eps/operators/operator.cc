// The defaults every operator starts from: conjugate gradients and the residual form.
#include "eps/operators/operator.h"

#include "eps/math/conjugate_gradients.h"

namespace eps {

Tensor LinearOperator::ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor b = adjoint(r.to(at::kDouble));
  const Tensor shift = per_sample(lambda, b);
  const auto normal = [&](const Tensor& u) { return adjoint(apply(u)) + shift * u; };
  return conjugate_gradients(normal, b).to(r.scalar_type());
}

Tensor LinearOperator::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  return z + ridge(y - apply(z), lambda);
}

Tensor LinearOperator::filter(const Tensor&, const EigenvalueMap&) const {
  fail("filter: this operator's A'A is not diagonal in a fast basis");
}

Tensor LinearOperator::filter_diagonal(const Tensor&, const EigenvalueMap&) const {
  fail("filter_diagonal: this operator's A'A is not diagonal in a fast basis");
}

Problem observe(Operator A, const Tensor& x0, const Tensor& sigma_y, Rng& rng) {
  const Tensor clean = A->apply(x0);
  const Tensor noise = rng.normal(clean.sizes().vec(), clean.options());
  return {A, clean + A->measured(per_sample(sigma_y, clean) * noise), sigma_y, {}};
}

Tensor per_sample(const Tensor& value, const Tensor& like) {
  // A 0-dimensional CPU tensor meets tensors of any dtype and device without promotion or copy.
  if (value.dim() == 0) return value;
  Shape shape(static_cast<size_t>(like.dim()), 1);
  shape[0] = value.size(0);
  return value.to(like.options()).reshape(shape);
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
