// What a blur is made of: its kernel, and the part of the frame that it measures.
#include "eps/restore/blur_kernel.h"

namespace eps {

Tensor kernel_of(const LinearOperator& A) {
  const auto parameters = A.format().parameters();
  const auto kernel = parameters.find("kernel");
  return kernel == parameters.end() || kernel->second.size(0) != 1 ? Tensor() : kernel->second[0];
}

bool is_lopsided(const Tensor& kernel) {
  const Tensor change = kernel.flip({0, 1}) - kernel;
  return change.abs().max().item<double>() > 1e-3 * kernel.abs().max().item<double>();
}

std::optional<Cut> cut_of(const LinearOperator& A, const Tensor& y, const Shape& image) {
  if (y.dim() != 4 || image.size() != 4) return {};
  const int64_t height = y.size(2), width = y.size(3);
  if (height == image[2] && width == image[3]) return {};
  const Tensor inside = A.format().picture(at::ones_like(y, at::kDouble))[0].sum(0) != 0;
  const auto along = [&](int64_t dim) { return inside.any(dim).nonzero().flatten().cpu(); };
  const Tensor rows = along(1), columns = along(0);
  if (rows.numel() != height || columns.numel() != width) return {};
  return Cut{.top = rows[0].item<int64_t>(),
             .left = columns[0].item<int64_t>(),
             .height = height,
             .width = width,
             .full_height = image[2],
             .full_width = image[3]};
}

}  // namespace eps
