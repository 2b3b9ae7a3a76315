// The distribution of a vector over the eigenvalues of a symmetric matrix.
#include "eps/math/spectral_measure.h"

#include "eps/math/conjugate_gradients.h"

namespace eps {
namespace {

Tensor length_of(const Tensor& v) { return batch_dot(v, v).flatten().sqrt(); }

}  // namespace

SpectralMeasure spectral_measure(const std::function<Tensor(const Tensor&)>& product,
                                 const Tensor& b,
                                 int64_t steps) {
  const Tensor start = b.to(at::kDouble);
  const Tensor length = length_of(start);
  const Tensor flat = start.flatten(1);
  Tensor basis = at::zeros({flat.size(0), steps + 1, flat.size(1)}, flat.options());
  basis.select(1, 0).copy_(quotient_or_zero(flat, length.unsqueeze(1)));
  Tensor T = at::zeros({flat.size(0), steps, steps}, flat.options());
  for (int64_t m = 0; m < steps; ++m) {
    const Tensor V = basis.slice(1, 0, m + 1);
    const Tensor moved = product(V.select(1, m).reshape(start.sizes())).flatten(1);
    Tensor next = moved.unsqueeze(2);
    const Tensor overlap = at::matmul(V, next);
    T.select(1, m).select(1, m).copy_(overlap.select(1, m).squeeze(1));
    next = next - at::matmul(V.transpose(1, 2), overlap);
    next = next - at::matmul(V.transpose(1, 2), at::matmul(V, next));
    // An invariant space ends the process of a sample: its next vector is 0, and T is 0 from there
    // on, beside the part that matters.
    const Tensor size = length_of(next);
    const Tensor beside = size * (size > 1e-13 * length_of(moved));
    basis.select(1, m + 1).copy_(quotient_or_zero(next.squeeze(2), beside.unsqueeze(1)));
    if (m + 1 == steps) break;
    T.select(1, m).select(1, m + 1).copy_(beside);
    T.select(1, m + 1).select(1, m).copy_(beside);
  }
  const auto [values, vectors] = at::linalg_eigh(T.cpu());
  return {values.clamp_min(0), vectors.select(1, 0).square() * length.cpu().square().unsqueeze(1)};
}

}  // namespace eps
