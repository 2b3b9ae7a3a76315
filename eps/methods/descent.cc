// Most methods share these fields, residuals and norms.
#include "eps/methods/descent.h"

#include "eps/math/conjugate_gradients.h"

namespace eps {

std::vector<Field> level_fields(int64_t steps) {
  return {Field::integer("steps", std::to_string(steps), at_least(1), "noise levels"),
          Field::real("sigma_max", "80", positive(), "highest noise level"),
          Field::real("sigma_min", "0.002", positive(), "lowest noise level above 0"),
          Field::real("rho", "7", {1e-3, 1e3}, "exponent of EDM's grid")};
}

std::vector<Field> with_defaults(std::vector<Field> fields,
                                 const std::map<std::string, std::string>& values) {
  for (Field& field : fields)
    if (const auto found = values.find(field.name); found != values.end())
      field.value = found->second;
  return fields;
}

std::vector<Field> joined(std::vector<Field> a, const std::vector<Field>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

GridOptions grid_options(const Spec& options) {
  GridOptions grid;
  grid.steps = options.integer("steps");
  grid.sigma_max = options.real("sigma_max");
  grid.sigma_min = options.real("sigma_min");
  grid.rho = options.real("rho");
  return grid;
}

Tensor residual(const Oracle& oracle, const Tensor& x) {
  return oracle.A().format().measured(oracle.y() - oracle.A().apply(x));
}

Tensor per_image_norm(const Tensor& a) { return batch_dot(a, a).sqrt().clamp_min(1e-12); }

Tensor residual_norm_gradient(const Oracle& oracle, const Tensor& x0) {
  const Tensor r = residual(oracle, x0);
  return -oracle.A().adjoint(r / per_image_norm(r));
}

}  // namespace eps
