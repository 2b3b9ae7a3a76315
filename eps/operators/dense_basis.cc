// Singular vectors of operators on small images.
#include "eps/operators/dense_basis.h"

#include <algorithm>

#include "eps/base/lasting.h"

namespace eps {
namespace {

// Returns the matrix of one channel of A, (measurements, pixels), or nothing unless A maps each
// channel by it. A sees the unit images of the first channel, and answers for random images.
Tensor channel_matrix(const LinearOperator& A, const Tensor& like) {
  constexpr int64_t kImages = 256;  // in memory together
  const int64_t C = like.size(1), H = like.size(2), W = like.size(3), pixels = H * W;
  const auto options = like.options().dtype(at::kDouble);
  Rng rng(0);
  const Tensor x = rng.normal({1, C, H, W}).to(options), y = A.apply(x);
  if (A.format().batch() != 1 || y.dim() != 4 || y.size(1) != C) return {};
  std::vector<Tensor> columns;
  for (int64_t begin = 0; begin < pixels; begin += kImages) {
    const int64_t end = std::min(begin + kImages, pixels);
    const Tensor units = at::zeros({end - begin, C, pixels}, options);
    units.select(1, 0).slice(1, begin, end).fill_diagonal_(1);
    columns.push_back(A.apply(units.reshape({-1, C, H, W})).select(1, 0).flatten(1));
  }
  const Tensor matrix = at::cat(columns).transpose(0, 1);
  const Tensor found = at::matmul(x.flatten(2), matrix.transpose(0, 1)).reshape(y.sizes());
  const bool same = ((found - y).norm() <= 1e-9 * y.norm()).item<bool>();
  return same ? matrix.contiguous() : Tensor();
}

}  // namespace

std::shared_ptr<const DenseBasis> DenseBasis::of(const Operator& A, const Tensor& like) {
  const Lasting vectors;
  const Tensor matrix = channel_matrix(*A, like);
  if (!matrix.defined()) return nullptr;
  return std::make_shared<const DenseBasis>(A, matrix, like.size(2), like.size(3));
}

// The eigenvectors of the smaller of A A' and A'A give the others, as V = A'U/s. An eigenvalue
// below 1e-12 of the largest counts as 0: its direction is not measured, and its vector would not
// be orthogonal to others.
DenseBasis::Vectors DenseBasis::vectors_of(const Tensor& matrix) {
  const bool wide = matrix.size(0) <= matrix.size(1);
  const Tensor A = wide ? matrix : matrix.transpose(0, 1);
  const auto [values, vectors] = at::linalg_eigh(at::matmul(A, A.transpose(0, 1)));
  const Tensor known = (values > 1e-12 * values[-1]).nonzero().flatten();
  const Tensor e = values.index_select(0, known), near = vectors.index_select(1, known);
  const Tensor far = at::matmul(A.transpose(0, 1), near) * e.rsqrt();
  return {wide ? near : far, e, wide ? far : near};
}

DenseBasis::DenseBasis(Operator A, const Tensor& matrix, int64_t height, int64_t width)
    : DenseBasis(std::move(A), vectors_of(matrix), height, width) {}

DenseBasis::DenseBasis(Operator A, const Vectors& vectors, int64_t height, int64_t width)
    : A_(std::move(A)),
      height_(height),
      width_(width),
      u_(vectors.u.contiguous()),
      v_(vectors.v.contiguous()),
      eigenvalues_(at::constant_pad_nd(vectors.e, {1, 0}).reshape({1, 1, 1, -1})) {}

// V s / (e + lambda) U' r
Tensor DenseBasis::ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor e = eigenvalues_.like(r).slice(3, 1);
  const Tensor gain = (e.sqrt() / (e + per_sample(lambda, e))).squeeze(1);  // (N or 1, 1, rank)
  const Tensor inside = at::matmul(r.flatten(2), u_.like(r)) * gain;
  const Tensor x = at::matmul(inside, v_.like(r).transpose(0, 1));
  return x.reshape({x.size(0), x.size(1), height_, width_});
}

std::pair<Tensor, Tensor> DenseBasis::gains(const Tensor& like, const EigenvalueMap& f) const {
  const Tensor e = eigenvalues_.like(like);
  const Tensor all = f(e).expand({-1, 1, 1, e.size(3)}).squeeze(1);
  const Tensor at_zero = all.slice(2, 0, 1);
  return {at_zero, all.slice(2, 1) - at_zero};
}

// f(0) x + V (f(e) - f(0)) V' x
std::vector<Tensor> DenseBasis::filters(const Tensor& x,
                                        const std::vector<EigenvalueMap>& functions) const {
  const Tensor v = v_.like(x), flat = x.flatten(2), inside = at::matmul(flat, v);
  std::vector<Tensor> all;
  for (const EigenvalueMap& f : functions) {
    const auto [at_zero, gain] = gains(x, f);
    const Tensor known = at::matmul(inside * gain, v.transpose(0, 1));
    all.push_back((at_zero * flat + known).reshape(x.sizes()));
  }
  return all;
}

Tensor DenseBasis::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  const auto [at_zero, gain] = gains(like, f);
  const Tensor known = at::matmul(gain, v_.like(like).square().transpose(0, 1));
  return (at_zero + known).reshape({-1, 1, height_, width_});
}

Tensor DenseBasis::normal_diagonal(const Tensor& like) const {
  return A_->functions().normal_diagonal(like);
}

Tensor DenseBasis::mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const {
  const auto [at_zero, gain] = gains(like, f);
  const auto pixels = static_cast<double>(height_ * width_);
  return (at_zero + gain.sum(2, true) / pixels).reshape({-1, 1, 1, 1});
}

// A network was trained with the operator's own estimate.
EigenvalueMap DenseBasis::prior_power(const Tensor& spectrum, const Tensor& like) const {
  return A_->functions().prior_power(spectrum, like);
}

Operator for_many_evaluations(const Operator& A, const Tensor& like, int64_t evaluations) {
  constexpr int64_t kMostPixels = 6400, kLeastEvaluations = 300;
  const bool pays = like.is_cuda() && !A->spectral() && evaluations >= kLeastEvaluations &&
                    like.size(2) * like.size(3) <= kMostPixels;
  const Operator dense = pays ? DenseBasis::of(A, like) : nullptr;
  return dense ? dense : A;
}

}  // namespace eps
