// Operators that act along rows and along columns.
#include "eps/operators/separable.h"

#include <algorithm>

namespace eps {

Separable::Axis::Axis(const Tensor& given)
    : Axis(given.to(at::kDouble).unsqueeze(1),
           at::linalg_svd(given.to(at::kCPU, at::kDouble).unsqueeze(1), /*full_matrices=*/true)) {}

Separable::Axis::Axis(const Tensor& given, const std::tuple<Tensor, Tensor, Tensor>& decomposition)
    : matrix(given), ut({}), v({}) {
  const auto& [u, s, vt] = decomposition;
  const int64_t m = given.size(2), n = given.size(3);
  const double rounding = 2.2e-16 * static_cast<double>(std::max(m, n));
  const Tensor values = s.masked_fill(s <= s.amax(-1, true) * rounding, 0);
  singular = at::constant_pad_nd(values, {0, n - values.size(-1)}).to(given.device());
  const Tensor measured = u.transpose(2, 3).slice(2, 0, std::min(m, n));
  ut = Converted(at::constant_pad_nd(measured, {0, 0, 0, n - measured.size(2)}).to(given.device()));
  v = Converted(vt.transpose(2, 3).contiguous().to(given.device()));
}

Separable::Separable(const Tensor& rows,
                     const Tensor& columns,
                     Picture picture,
                     std::map<std::string, Tensor> parameters)
    : rows_(rows),
      columns_(columns),
      singular_(rows_.singular.unsqueeze(3) * columns_.singular.unsqueeze(2)),
      eigenvalues_(singular_.exact().square()),
      denominators_(eigenvalues_.exact() + (eigenvalues_.exact() == 0)),
      picture_(std::move(picture)),
      parameters_(std::move(parameters)) {}

Tensor Separable::both(const Tensor& left, const Tensor& x, const Tensor& right) {
  return at::matmul(at::matmul(left, x), right.transpose(2, 3));
}

Tensor Separable::apply(const Tensor& x) const {
  check_image_size(
      "separable operator", x, rows_.matrix.exact().size(3), columns_.matrix.exact().size(3));
  return both(rows_.matrix.like(x), x, columns_.matrix.like(x));
}

Tensor Separable::adjoint(const Tensor& y) const {
  return both(rows_.matrix.like(y).transpose(2, 3), y, columns_.matrix.like(y).transpose(2, 3));
}

Tensor Separable::ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor gain = singular_.like(r) / (denominators_.like(r) + per_sample(lambda, r));
  const Tensor inside = both(rows_.ut.like(r), r, columns_.ut.like(r));
  return both(rows_.v.like(r), inside * gain, columns_.v.like(r));
}

Tensor Separable::into_basis(const Tensor& x) const {
  return both(rows_.v.like(x).transpose(2, 3), x, columns_.v.like(x).transpose(2, 3));
}

Tensor Separable::from_basis(const Tensor& coordinates) const {
  return both(rows_.v.like(coordinates), coordinates, columns_.v.like(coordinates));
}

Tensor Separable::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  const Tensor e = eigenvalues_.like(like);
  return both(
      rows_.v.like(like).square(), f(e) + at::zeros_like(e), columns_.v.like(like).square());
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
  const Tensor all = at::cat({spectrum, left_out}, 1).to(at::kDouble).unsqueeze(0).unsqueeze(0);
  const Tensor power = both(power_of(rows_.v.as(all.device(), at::kDouble)),
                            all,
                            power_of(columns_.v.as(all.device(), at::kDouble)))
                           .to(like.options());
  return [power](const Tensor&) { return power; };
}

int64_t Separable::batch() const {
  return std::max(rows_.matrix.exact().size(0), columns_.matrix.exact().size(0));
}

}  // namespace eps
