// Operators that act along rows and along columns.
#include "eps/operators/separable.h"

#include <algorithm>

namespace eps {

Separable::Axis::Axis(const Tensor& given) : matrix(given.to(at::kDouble).unsqueeze(1)) {
  const int64_t m = given.size(1), n = given.size(2);
  const auto [u, s, vt] = at::linalg_svd(matrix.to(at::kCPU), /*full_matrices=*/true);
  const double rounding = 2.2e-16 * static_cast<double>(std::max(m, n));
  const Tensor values = s.masked_fill(s <= s.amax(-1, true) * rounding, 0);
  singular = at::constant_pad_nd(values, {0, n - values.size(-1)}).to(given.device());
  const Tensor measured = u.transpose(2, 3).slice(2, 0, std::min(m, n));
  ut = at::constant_pad_nd(measured, {0, 0, 0, n - measured.size(2)}).to(given.device());
  v = vt.transpose(2, 3).contiguous().to(given.device());
}

Separable::Separable(const Tensor& rows,
                     const Tensor& columns,
                     Picture picture,
                     std::map<std::string, Tensor> parameters)
    : rows_(rows),
      columns_(columns),
      picture_(std::move(picture)),
      parameters_(std::move(parameters)) {}

Tensor Separable::both(const Tensor& left, const Tensor& x, const Tensor& right) {
  return at::matmul(at::matmul(left.to(x.options()), x), right.to(x.options()).transpose(2, 3));
}

Tensor Separable::apply(const Tensor& x) const {
  check_image_size("separable operator", x, rows_.matrix.size(3), columns_.matrix.size(3));
  return both(rows_.matrix, x, columns_.matrix);
}

Tensor Separable::adjoint(const Tensor& y) const {
  return both(rows_.matrix.transpose(2, 3), y, columns_.matrix.transpose(2, 3));
}

Tensor Separable::ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor s = (rows_.singular.unsqueeze(3) * columns_.singular.unsqueeze(2)).to(r.options());
  const Tensor inside = both(rows_.ut, r, columns_.ut);
  return both(rows_.v, inside * s * ridge_gain(s.square(), lambda), columns_.v);
}

Tensor Separable::eigenvalues(const Tensor& like) const {
  return (rows_.singular.unsqueeze(3) * columns_.singular.unsqueeze(2)).square().to(like.options());
}

Tensor Separable::filter(const Tensor& x, const EigenvalueMap& f) const {
  const Tensor inside = both(rows_.v.transpose(2, 3), x, columns_.v.transpose(2, 3));
  return both(rows_.v, inside * f(eigenvalues(x)), columns_.v);
}

Tensor Separable::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  const Tensor e = eigenvalues(like);
  return both(rows_.v.square(), f(e) + at::zeros_like(e), columns_.v.square());
}

// The power along v is sum_k |v_hat(k)|^2 E|x_hat(k)|^2, and v_hat is a product, too.
EigenvalueMap Separable::prior_power(const Tensor& spectrum, const Tensor& like) const {
  const auto power_of = [&](const Tensor& v) {  // (directions, frequencies)
    const Tensor hat = at::fft_fft(v.transpose(2, 3), c10::nullopt, -1, "ortho");
    return at::real(hat * hat.conj());
  };
  // rfft2 leaves out the frequencies (-k, -l), which have the power of (k, l).
  const int64_t width = like.size(3);
  const Tensor left_out = spectrum.slice(1, 1, (width + 1) / 2).flip({0, 1}).roll(1, 0);
  const Tensor all = at::cat({spectrum, left_out}, 1).to(at::kDouble);
  const Tensor power = both(power_of(rows_.v), all.unsqueeze(0).unsqueeze(0), power_of(columns_.v))
                           .to(like.options());
  return [power](const Tensor&) { return power; };
}

int64_t Separable::batch() const { return std::max(rows_.matrix.size(0), columns_.matrix.size(0)); }

}  // namespace eps
