// The power of the data along the two eigenspaces of an isometry.
#include "eps/operators/isometry.h"

#include "eps/math/spectrum.h"

namespace eps {

EigenvalueMap Isometry::prior_power(const Tensor& spectrum, const Tensor& like) const {
  const Tensor image = at::zeros({1, like.size(1), like.size(2), like.size(3)}, like.options());
  const Tensor y = at::zeros(apply(image).sizes(), like.options());
  const auto rank = static_cast<double>(y.numel()), all = static_cast<double>(image.numel());
  y.view(-1).slice(0, 0, 1).fill_(1);
  const Tensor row = adjoint(y);
  const Tensor range = (row * filter_spectrum(row, spectrum)).sum() / row.square().sum();
  const Tensor total = spectral_mean(spectrum, like.size(3)).reshape({});
  const Tensor null = (total * all - range * rank) / std::max(all - rank, 1.0);
  return [range, null](const Tensor& e) { return at::where(e > 0, range, null); };
}

}  // namespace eps
