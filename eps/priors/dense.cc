// Images of a basis give the matrix of a linear map, column by column.
#include "eps/priors/dense.h"

namespace eps {

Tensor matrix_of(const std::function<Tensor(const Tensor&)>& map,
                 const Shape& image,
                 int64_t batch,
                 const at::TensorOptions& options) {
  const int64_t d = image[1] * image[2] * image[3];
  const Tensor basis = at::eye(d, options).reshape({d, image[1], image[2], image[3]});
  // A shared map takes all basis images as one batch; different maps take one basis image at a
  // time.
  if (batch == 1) return map(basis).flatten(1).transpose(0, 1).unsqueeze(0);
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < d; ++i)
    columns.push_back(map(basis.slice(0, i, i + 1).expand({batch, -1, -1, -1})).flatten(1));
  return at::stack(columns, 2);
}

}  // namespace eps
