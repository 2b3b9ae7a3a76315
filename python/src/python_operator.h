// Operators written in Python, and operators as Python has them.
#pragma once

#include <optional>

#include "binding.h"
#include "eps/operators/operator.h"
#include "eps/restore/operator_choice.h"

namespace eps::python {

// A `BoundOperator` is an operator for images of one size, with what restorations say of it.
struct BoundOperator {
  Operator A;
  std::string name;         // of the registry; "" of an operator of the user's own
  std::string spec;         // for people
  bool from_array = false;  // its values are not in the spec
  Shape image;              // (C, H, W)
  Shape measurement = {};   // without the batch
  at::Device device = at::kCPU;
  Operator with_derivatives = nullptr;

  // Fills in the measurement's shape and the differentiable verbs.
  static std::shared_ptr<BoundOperator> complete(BoundOperator known);

  int64_t maps() const { return A->format().batch(); }
  Tensor images(const char* what, const Tensor& x) const;        // checked, with the batch
  Tensor measurements(const char* what, const Tensor& y) const;  // likewise
  OperatorChoice choice() const;
};

// The verbs of an operator that is written in Python; None where the library has a default.
struct PythonVerbs {
  py::object apply, adjoint;
  py::object proximal = py::none();  // (z, y, lambda) -> argmin |y - A x|^2 + lambda |x - z|^2
  // A'A x = from_basis(eigenvalues * to_basis(x)), where the basis is fast.
  py::object to_basis = py::none(), from_basis = py::none();
  std::optional<Tensor> eigenvalues = {};
};
Operator python_operator(const PythonVerbs& verbs, const Shape& image, at::Device device);

}  // namespace eps::python
