// A matrix on the channels of each pixel, such as the spectral response of a camera.
//
// With the singular value decomposition M = U s V' of the small matrix, A'A = V s^2 V' in each
// pixel, where s^2 is 0 beyond the rank of M.
#include "eps/io/array.h"
#include "eps/operators/factories.h"
#include "eps/operators/fast_basis.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class Mix final : public LinearOperator, public FastBasis {
 public:
  explicit Mix(const Tensor& matrix) : matrix_(matrix) {
    const auto [u, s, vt] = at::linalg_svd(matrix, /*full_matrices=*/true);
    const double dimensions = static_cast<double>(std::max(matrix.size(0), matrix.size(1)));
    // Singular values at the level of rounding are zeros (the rule of numpy.linalg.matrix_rank).
    const Tensor kept = s.masked_fill(s <= s.amax() * dimensions * 2.2e-16, 0);
    eigenvalue_ =
        at::constant_pad_nd(kept.square(), {0, matrix.size(1) - s.numel()}).reshape({1, -1, 1, 1});
    vt_ = vt.contiguous();
  }

  Tensor apply(const Tensor& x) const override {
    check(x.size(1) == matrix_.size(1),
          "mix: the image has ",
          x.size(1),
          " channels, the matrix ",
          matrix_.size(1),
          " columns");
    return in_each_pixel(matrix_, x);
  }
  Tensor adjoint(const Tensor& y) const override { return in_each_pixel(matrix_.t(), y); }

  // V (s^2 + lambda)^{-1} V' M' r
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return filter(adjoint(r), [&](const Tensor& e) { return ridge_gain(e, lambda); });
  }

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return in_each_pixel(vt_.t().square(), f(eigenvalue_.to(like.options())));
  }

  Tensor picture(const Tensor& y) const override { return ridge(y, scalar(0)); }  // A^+ y
  std::map<std::string, Tensor> parameters() const override {
    return {{"matrix", matrix_.unsqueeze(0)}};
  }

 private:
  Tensor into_basis(const Tensor& x) const override { return in_each_pixel(vt_, x); }
  Tensor from_basis(const Tensor& coordinates) const override {
    return in_each_pixel(vt_.t(), coordinates);
  }
  Tensor eigenvalues(const Tensor& like) const override { return eigenvalue_.to(like.options()); }

  static Tensor in_each_pixel(const Tensor& matrix, const Tensor& x) {
    return at::einsum("ij,njhw->nihw", {matrix.to(x.options()), x});
  }

  const Tensor matrix_;  // (C', C)
  Tensor eigenvalue_;    // (1, C, 1, 1)
  Tensor vt_;            // (C, C)
};

Operator make_mix(const Spec& spec, const Tensor& like, Rng&) {
  const std::string path = spec.text("file");
  const Tensor matrix = read_array(path).to(at::kDouble);
  require_finite(matrix, path);
  check(matrix.dim() == 2 && matrix.size(1) == like.size(1),
        path,
        ": a matrix of C' x ",
        like.size(1),
        ", the channels of the image, is wanted, got ",
        to_string(matrix.sizes()));
  return mix(matrix.to(like.device()));
}

EPS_OPERATOR({.name = "mix",
              .summary = "a matrix on the channels of each pixel, from a file",
              .example = "",
              .fields = {{"file", "", ".npy or .safetensors; C' x C"}},
              .make = make_mix,
              .mixes_channels = true,
              .image_shape = [](const Spec& spec, const Shape& y) {
                check(y.size() == 4, "mix: a measurement is N x C' x H x W, got ", to_string(y));
                return Shape{y[0], read_array(spec.text("file")).size(-1), y[2], y[3]};
              }});

}  // namespace

Operator mix(const Tensor& matrix) {
  check(matrix.dim() == 2 && matrix.numel() > 0,
        "mix: a matrix is wanted, got ",
        to_string(matrix.sizes()));
  return std::make_shared<Mix>(matrix.to(at::kDouble));
}

}  // namespace eps
