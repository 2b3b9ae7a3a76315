// Operators for Python: the verbs, with every shape checked before a kernel sees it.
#include "binding.h"
#include "differentiable.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/task.h"
#include "eps/runtime/device.h"
#include "python_operator.h"

namespace eps::python {

Tensor plain_tensor(const char* name, const Tensor& x, at::Device device) {
  check(x.layout() == at::kStrided && !x.is_quantized() && !x.is_nested(),
        name,
        ": a dense tensor is wanted");
  check(x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble,
        name,
        ": float32 or float64 is wanted, got ",
        x.dtype().name());
  check(x.device() == device, name, ": a tensor on ", device, " is wanted, got ", x.device());
  return x.is_neg() ? x.resolve_neg() : x;
}

Tensor plain_batch(
    const char* name, const Tensor& x, at::Device device, const Shape& sizes, int64_t maps) {
  const bool fits = x.dim() == static_cast<int64_t>(sizes.size()) + 1 && x.size(0) >= 1 &&
                    x.sizes().slice(1) == at::IntArrayRef(sizes);
  check(fits, name, ": N x ", to_string(sizes), " is wanted, got ", to_string(x.sizes()));
  check(maps == 1 || x.size(0) == maps,
        name,
        ": the operator has ",
        maps,
        " maps, one for each of so many; got ",
        x.size(0));
  return plain_tensor(name, x, device);
}

Tensor level(const char* name, const Tensor& value, const Tensor& images, bool may_be_zero) {
  const int64_t count = images.size(0);
  check(value.layout() == at::kStrided && value.is_floating_point() &&
            (value.numel() == 1 || (value.numel() == count && value.size(0) == count)),
        name,
        ": a number, or one for each of ",
        count,
        " images is wanted, got ",
        to_string(value.sizes()));
  const Tensor least = may_be_zero ? value >= 0 : value > 0;
  check(at::logical_and(least, at::isfinite(value)).all().item<bool>(),
        name,
        ": finite numbers ",
        may_be_zero ? ">= 0" : "> 0",
        " are wanted");
  const Tensor wide = value.to(at::kDouble);
  if (value.numel() == 1) return wide.reshape({}).to(at::kCPU);
  return wide.reshape({count, 1, 1, 1}).to(images.device());
}

namespace {

using Bound = std::shared_ptr<BoundOperator>;

// Returns an image shape (C, H, W) of positive numbers, whose product is no accident.
Shape image_shape(const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 32;
  bool good = shape.size() == 3;
  double numel = 1;
  for (const int64_t size : shape) {
    good = good && size >= 1;
    numel *= static_cast<double>(size);
  }
  check(good && numel <= static_cast<double>(kMost),
        "operator: the shape (C, H, W) of an image is wanted, got ",
        to_string(shape));
  return shape;
}

at::Device device_of(const std::string& text) {
  const at::Device device = parse_device(text);
  if (device.is_cuda()) prepare_device(device);
  return device;
}

Bound from_spec(const std::string& name,
                const Shape& shape,
                uint64_t seed,
                int64_t maps,
                const std::string& on) {
  const Shape image = image_shape(shape);
  check(maps >= 1 && maps <= 1 << 20, "operator: maps must be at least 1, got ", maps);
  const std::string spec = find_task(name).test;
  const at::Device device = device_of(on);
  const Tensor like =
      at::empty({maps, image[0], image[1], image[2]}, at::TensorOptions(device).dtype(at::kDouble));
  // The streams of a simulated measurement, as eps restore --simulate draws it.
  Rng rng(derive_seed(seed, Stream::measurement_operator), maps);
  return BoundOperator::complete({.A = make_operator(spec, like, rng),
                                  .name = operator_name(spec),
                                  .spec = spec,
                                  .image = image,
                                  .device = device});
}

Bound from_verbs(const py::object& apply,
                 const py::object& adjoint,
                 const Shape& shape,
                 const py::object& proximal,
                 const std::optional<std::tuple<py::object, py::object, Tensor>>& basis,
                 const std::string& name,
                 const std::string& on) {
  const Shape image = image_shape(shape);
  const at::Device device = device_of(on);
  PythonVerbs verbs{.apply = apply, .adjoint = adjoint, .proximal = proximal};
  if (basis) {
    verbs.to_basis = std::get<0>(*basis);
    verbs.from_basis = std::get<1>(*basis);
    verbs.eigenvalues = plain_tensor("operator: eigenvalues", std::get<2>(*basis), device).detach();
    check((*verbs.eigenvalues >= 0).all().item<bool>(), "operator: eigenvalues of A'A are >= 0");
  }
  return BoundOperator::complete({.A = python_operator(verbs, image, device),
                                  .name = "",
                                  .spec = name,
                                  .image = image,
                                  .device = device});
}

// Takes a matrix of the flattened image by its entries.
Bound from_entries(const Tensor& row,
                   const Tensor& column,
                   const Tensor& value,
                   int64_t rows,
                   const Shape& shape,
                   const std::string& on) {
  const Shape image = image_shape(shape);
  const int64_t columns = image[0] * image[1] * image[2];
  const auto inside = [](const char* name, const Tensor& index, int64_t count) {
    check(index.dim() == 1 && index.scalar_type() == at::kLong && index.is_cpu(),
          "operator: ",
          name,
          " of entries are int64");
    check(index.numel() == 0 ||
              (index.min().item<int64_t>() >= 0 && index.max().item<int64_t>() < count),
          "operator: ",
          name,
          " of entries must lie in [0, ",
          count,
          ")");
  };
  check(rows >= 1, "operator: a matrix of at least one row is wanted");
  inside("rows", row, rows);
  inside("columns", column, columns);
  check(value.dim() == 1 && value.numel() == row.numel() && row.numel() == column.numel() &&
            value.scalar_type() == at::kDouble && value.is_cpu(),
        "operator: as many float64 values as rows and columns are wanted");
  const at::Device device = device_of(on);
  const SparseMatrix matrix(rows, columns, row, column, value);
  return BoundOperator::complete(
      {.A = sparse_matrix(matrix, {1, image[0], image[1], image[2]}, {rows}, device),
       .name = "sparse",
       .spec = "a sparse matrix",
       .from_array = true,
       .image = image,
       .device = device});
}

Bound from_mask(const Tensor& mask, const Shape& shape) {
  const Shape image = image_shape(shape);
  const Tensor m = plain_tensor("inpainting", mask, mask.device()).detach();
  check(m.dim() == 3 && (m.size(0) == 1 || m.size(0) == image[0]) && m.size(1) == image[1] &&
            m.size(2) == image[2],
        "inpainting: a mask of H x W or C x H x W is wanted, got ",
        to_string(mask.sizes()));
  check(at::logical_or(m == 0, m == 1).all().item<bool>(),
        "inpainting: a mask of 0 and 1 is wanted, 1 where a pixel is measured");
  return BoundOperator::complete({.A = inpainting(m.to(at::kDouble).unsqueeze(0)),
                                  .name = "inpaint_mask",
                                  .spec = "inpaint_mask:file=an array",
                                  .from_array = true,
                                  .image = image,
                                  .device = mask.device()});
}

Bound from_kernel(const Tensor& kernel, const Shape& shape, const std::string& border) {
  const Shape image = image_shape(shape);
  const Tensor k = plain_tensor("blur", kernel, kernel.device()).detach();
  check(k.dim() == 2 && k.numel() > 0 && at::isfinite(k).all().item<bool>(),
        "blur: a finite kernel of kh x kw is wanted, got ",
        to_string(kernel.sizes()));
  check(k.size(0) <= image[1] && k.size(1) <= image[2],
        "blur: a kernel of ",
        to_string(k.sizes()),
        " is larger than the image, ",
        to_string(image));
  const Tensor wide = k.to(at::kDouble).contiguous().unsqueeze(0);
  return BoundOperator::complete({.A = blur(wide, image[1], image[2], parse_border(border)),
                                  .name = "blur_kernel",
                                  .spec = "blur_kernel:file=an array,border=" + border,
                                  .from_array = true,
                                  .image = image,
                                  .device = kernel.device()});
}

const LinearOperator& verbs_for(const BoundOperator& self,
                                std::initializer_list<const Tensor*> inputs) {
  for (const Tensor* input : inputs)
    if (is_recorded(*input)) return *self.with_derivatives;
  return *self.A;
}

Tensor apply_to(const BoundOperator& self, const Tensor& x) {
  const Tensor image = self.images("A(x)", x);
  return verbs_for(self, {&image}).apply(image);
}

Tensor adjoint_to(const BoundOperator& self, const Tensor& y) {
  const Tensor measured = self.measurements("A.adjoint(y)", y);
  return verbs_for(self, {&measured}).adjoint(measured);
}

Tensor ridge_to(const BoundOperator& self, const Tensor& r, const Tensor& lambda) {
  const Tensor measured = self.measurements("A.ridge(r, lambda)", r);
  const Tensor shift = level("A.ridge: lambda", lambda, measured, true);
  return verbs_for(self, {&measured, &shift}).ridge(measured, shift);
}

Tensor proximal_to(const BoundOperator& self,
                   const Tensor& z,
                   const Tensor& y,
                   const Tensor& lambda) {
  const Tensor image = self.images("A.proximal(z, y, lambda)", z);
  const Tensor measured = self.measurements("A.proximal(z, y, lambda)", y);
  check(z.size(0) == y.size(0) || y.size(0) == 1,
        "A.proximal: ",
        y.size(0),
        " measurements for ",
        z.size(0),
        " images");
  check(z.scalar_type() == y.scalar_type(), "A.proximal: z and y of one type are wanted");
  const Tensor shift = level("A.proximal: lambda", lambda, image, true);
  return verbs_for(self, {&image, &measured, &shift}).proximal(image, measured, shift);
}

}  // namespace

void bind_operators(py::module_& m) {
  py::class_<BoundOperator, Bound>(m, "Operator")
      .def("apply", &apply_to, Release())
      .def("adjoint", &adjoint_to, Release())
      .def("ridge", &ridge_to, Release())
      .def("proximal", &proximal_to, Release())
      .def(
          "picture",
          [](const BoundOperator& self, const Tensor& y) {
            return self.A->format().picture(self.measurements("A.picture(y)", y.detach()));
          },
          Release())
      .def(
          "measured",
          [](const BoundOperator& self) {
            Shape sizes = self.measurement;
            sizes.insert(sizes.begin(), self.maps());
            return self.A->format().measured(
                at::ones(sizes, at::TensorOptions(self.device).dtype(at::kDouble)));
          },
          Release())
      .def_property_readonly(
          "parameters", [](const BoundOperator& self) { return self.A->format().parameters(); })
      .def_property_readonly("has_closed_form",
                             [](const BoundOperator& self) { return self.A->closed_form(); })
      .def_property_readonly("maps", &BoundOperator::maps)
      .def_property_readonly("device", [](const BoundOperator& self) { return self.device.str(); })
      .def_readonly("spec", &BoundOperator::spec)
      .def_readonly("image", &BoundOperator::image)
      .def_readonly("measurement", &BoundOperator::measurement);
  m.def("operator_from_spec", &from_spec, Release());
  m.def("operator_from_verbs", &from_verbs);
  m.def("operator_from_entries", &from_entries, Release());
  m.def("operator_from_mask", &from_mask, Release());
  m.def("operator_from_kernel", &from_kernel, Release());
  m.def("operator_summaries", [] {
    std::map<std::string, std::string> summaries;
    for (const auto& [name, entry] : operators()) summaries[name] = entry.summary;
    return summaries;
  });
}

}  // namespace eps::python
