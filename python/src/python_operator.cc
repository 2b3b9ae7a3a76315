// Operators written in Python.
#include "python_operator.h"

#include "differentiable.h"
#include "eps/operators/converted.h"
#include "eps/operators/probed.h"

namespace eps::python {
namespace {

// Calls a Python function of tensors; its answer must be a tensor of `sizes` behind the batch, if
// they are given.
template <class... Arguments>
Tensor call(const Held& function,
            const char* name,
            const Shape& sizes,
            const Tensor& like,
            const Arguments&... arguments) {
  Tensor answer;
  {
    const py::gil_scoped_acquire gil;
    const py::object result = (*function)(arguments...);
    if (!THPVariable_Check(result.ptr()))
      fail("operator: ", name, " must return a tensor, got ", Py_TYPE(result.ptr())->tp_name);
    answer = result.cast<Tensor>();
  }
  Shape wanted = sizes;
  wanted.insert(wanted.begin(), like.size(0));
  check(sizes.empty() || answer.sizes() == at::IntArrayRef(wanted),
        "operator: ",
        name,
        " must return ",
        to_string(wanted),
        ", got ",
        to_string(answer.sizes()));
  if (sizes.empty()) return answer.to(like.device());
  check(!answer.is_complex(), "operator: ", name, " must return real numbers");
  return answer.to(like.options());
}

class PythonSpectral final : public Probed {
 public:
  PythonSpectral(const LinearOperator& A, const PythonVerbs& verbs, Shape image)
      : Probed(A),
        to_basis_(hold(verbs.to_basis)),
        from_basis_(hold(verbs.from_basis)),
        eigenvalues_(verbs.eigenvalues->to(at::kDouble)),
        image_(std::move(image)) {}

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const Tensor coefficients = call(to_basis_, "to_basis", {}, x, x);
    return call(from_basis_, "from_basis", image_, x, coefficients * f(eigenvalues_.like(x)));
  }

 private:
  Held to_basis_, from_basis_;
  Converted eigenvalues_;
  Shape image_;
};

class PythonOperator final : public LinearOperator {
 public:
  PythonOperator(const PythonVerbs& verbs, const Shape& image, at::Device device)
      : apply_(hold(verbs.apply)), adjoint_(hold(verbs.adjoint)), image_(image) {
    if (!verbs.proximal.is_none()) proximal_ = hold(verbs.proximal);
    if (verbs.eigenvalues) spectral_ = std::make_unique<PythonSpectral>(*this, verbs, image);
    const Tensor one =
        at::zeros({1, image[0], image[1], image[2]}, at::TensorOptions(device).dtype(at::kDouble));
    const Tensor y = call(apply_, "apply", {}, one, one);
    check(!y.is_complex(), "operator: apply must return real numbers");
    check(y.dim() >= 2 && y.size(0) == 1 && y.numel() > 0,
          "operator: apply must map (N, C, H, W) to (N, ...), got ",
          to_string(y.sizes()),
          " for ",
          to_string(one.sizes()));
    measurement_ = y.sizes().slice(1).vec();
    call(adjoint_, "adjoint", image_, y.to(one.options()), y.to(one.options()));
  }

  Tensor apply(const Tensor& x) const override { return call(apply_, "apply", measurement_, x, x); }
  Tensor adjoint(const Tensor& y) const override { return call(adjoint_, "adjoint", image_, y, y); }
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    if (spectral_)
      return spectral_->filter(adjoint(r), [&](const Tensor& e) { return ridge_gain(e, lambda); });
    if (!proximal_) return LinearOperator::ridge(r, lambda);
    return proximal(at::zeros_like(adjoint(r)), r, lambda);
  }
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override {
    if (!proximal_) return LinearOperator::proximal(z, y, lambda);
    return call(proximal_, "proximal", image_, z, z, y, lambda);
  }
  const Spectral* spectral() const override { return spectral_.get(); }
  bool closed_form() const override { return proximal_ || spectral_; }
  bool recordable() const override { return false; }

 private:
  Held apply_, adjoint_, proximal_ = nullptr;
  Shape image_, measurement_;
  std::unique_ptr<PythonSpectral> spectral_;
};

}  // namespace

Operator python_operator(const PythonVerbs& verbs, const Shape& image, at::Device device) {
  return std::make_shared<PythonOperator>(verbs, image, device);
}

std::shared_ptr<BoundOperator> BoundOperator::complete(BoundOperator known) {
  Shape one = known.image;
  one.insert(one.begin(), known.maps());
  const at::TensorOptions options = at::TensorOptions(known.device).dtype(at::kDouble);
  known.measurement = known.A->apply(at::zeros(one, options)).sizes().slice(1).vec();
  known.with_derivatives = differentiable(known.A);
  return std::make_shared<BoundOperator>(std::move(known));
}

Tensor BoundOperator::images(const char* what, const Tensor& x) const {
  return plain_batch(what, x, device, image, maps());
}

Tensor BoundOperator::measurements(const char* what, const Tensor& y) const {
  return plain_batch(what, y, device, measurement, maps());
}

OperatorChoice BoundOperator::choice() const {
  OperatorChoice choice;
  choice.name = name.empty() ? "an operator of your own" : name;
  choice.spec = spec;
  choice.draw = [A = A](const Tensor&, Rng&) { return A; };
  choice.from_file = from_array;
  choice.is_given = true;
  choice.measurement_dims = static_cast<int64_t>(measurement.size()) + 1;
  choice.image_shape = [image = image](const Shape&) {
    return Shape{1, image[0], image[1], image[2]};
  };
  if (!name.empty() && !from_array) choice.border = border_in(spec);
  return choice;
}

}  // namespace eps::python
