// A matrix on the flattened image. One singular value decomposition serves every ridge of a dense
// one; a sparse one is in eps/operators/sparse.cc.
#include <cmath>

#include "eps/io/array.h"
#include "eps/io/sparse_npz.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class DenseMatrix final : public LinearOperator, public Spectral {
 public:
  DenseMatrix(const Tensor& matrix, const Shape& image)
      : matrix_(matrix.to(at::kDouble)), image_{-1, image[1], image[2], image[3]} {
    const auto [u, s, vt] = at::linalg_svd(matrix_, false);
    const double dimensions = static_cast<double>(std::max(matrix_.size(1), matrix_.size(2)));
    // Singular values at the level of rounding are zeros (the rule of numpy.linalg.matrix_rank).
    s_ = s.masked_fill(s <= s.amax(-1, true) * dimensions * 2.2e-16, 0);
    ut_ = u.transpose(1, 2).contiguous();
    vt_ = vt.contiguous();
  }

  Tensor apply(const Tensor& x) const override {
    check(x[0].numel() == matrix_.size(2),
          "matrix: ",
          matrix_.size(2),
          " columns, the image has ",
          to_string(x.sizes().slice(1)),
          " = ",
          x[0].numel(),
          " values");
    return times(matrix_, x.flatten(1));
  }
  Tensor adjoint(const Tensor& y) const override {
    return as_image(times(matrix_.transpose(1, 2), y));
  }

  // V s / (s^2 + lambda) U' r
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    const Tensor s = s_.to(r.options());
    return as_image(times(vt_.transpose(1, 2), times(ut_, r) * s * ridge_gain(s.square(), lambda)));
  }

  // V f(s^2) V' x + f(0) (x - V V' x)
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const Shape layout{s_.size(0), s_.size(1), 1, 1};
    const Tensor at_zero = f(at::zeros({1, 1, 1, 1}, x.options()));
    const Tensor gain = f(s_.to(x.options()).square().reshape(layout)).flatten(1);
    const Tensor inside = times(vt_, x.flatten(1));
    const Tensor outside = x - as_image(times(vt_.transpose(1, 2), inside));
    return as_image(times(vt_.transpose(1, 2), gain * inside)) + at_zero * outside;
  }

  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    const Shape layout{s_.size(0), s_.size(1), 1, 1};
    const Tensor at_zero = f(at::zeros({1, 1, 1, 1}, like.options()));
    const Tensor gain = f(s_.to(like.options()).square().reshape(layout)).flatten(1);
    const Tensor weight = vt_.to(like.options()).square();  // (N or 1, M, d)
    const Tensor inside = (weight * gain.unsqueeze(2)).sum(1);
    return as_image(inside) + at_zero * as_image(1 - weight.sum(1));
  }

  std::map<std::string, Tensor> parameters() const override { return {{"matrix", matrix_}}; }
  int64_t batch() const override { return matrix_.size(0); }

 private:
  // Multiplies all rows of v by one matrix, or each row by its own.
  Tensor times(const Tensor& matrix, const Tensor& v) const {
    const Tensor m = matrix.to(v.options());
    if (m.size(0) == 1) return at::matmul(v, m[0].transpose(0, 1));
    return at::matmul(m, v.unsqueeze(2)).squeeze(2);
  }
  Tensor as_image(const Tensor& v) const { return v.reshape(image_); }

  const Tensor matrix_;  // (N or 1, M, d)
  const Shape image_;    // -1, C, H, W
  Tensor ut_, s_, vt_;
};

bool is_sparse_path(const std::string& path) { return path.ends_with(".npz"); }

Operator make_matrix(const Spec& spec, const Tensor& like, Rng& rng) {
  const int64_t d = like.size(1) * like.size(2) * like.size(3);
  if (!spec.has("file")) {
    // Gaussian entries are scaled so that E[A'A] = (rows / d) I.
    const int64_t rows = spec.integer("rows");
    const Tensor matrix = rng.normal({like.size(0), rows, d}) / std::sqrt(static_cast<double>(d));
    return dense_matrix(matrix.to(like.device()), like.sizes().vec());
  }
  const std::string path = spec.text("file");
  if (!is_sparse_path(path)) return dense_matrix(read_matrix_file(path, like), like.sizes().vec());
  const SparseEntries m = read_sparse_npz(path);
  const int64_t parts = m.columns == like.size(2) * like.size(3) ? like.size(1) : 1;
  return sparse_matrix({m.rows, m.columns, m.row, m.column, m.value},
                       like.sizes().vec(),
                       {parts * m.rows},
                       like.device());
}

// Returns the image of a measurement as a row vector: the file has its length, and the measurement
// the number of its channels where the matrix is for one of them.
Shape vector_image(const Spec& spec, const Shape& y) {
  check(y.size() == 2 && spec.has("file"),
        "matrix: the image shape cannot be derived from a measurement of shape ",
        to_string(y),
        "; give it (C, H, W)");
  const std::string path = spec.text("file");
  if (!is_sparse_path(path)) return {y[0], 1, 1, read_array(path).size(-1)};
  const SparseEntries matrix = read_sparse_npz(path);
  return {y[0], std::max<int64_t>(1, y[1] / matrix.rows), 1, matrix.columns};
}

EPS_OPERATOR(
    {.name = "matrix",
     .summary = "a matrix on the flattened image, from a file or Gaussian",
     .example = "matrix:rows=24",
     .fields = {{"file",
                 "",
                 ".npy or .safetensors; M x CHW, or N x M x CHW with one per image; .npz: a sparse "
                 "matrix of SciPy, M x CHW, or M x HW for each channel"},
                Field::integer("rows",
                               "64",
                               {1, 1 << 20},
                               "without a file: rows of a Gaussian matrix, drawn per image")},
     .strengths = {"rows"},
     .make = make_matrix,
     .measurement_dims = 2,
     .mixes_channels = true,
     // A measurement does not determine C, H, W, unless the user gives the shape.
     .image_shape = vector_image,
     .is_random = [](const Spec& spec) { return !spec.has("file"); }});

}  // namespace

Operator dense_matrix(const Tensor& matrix, const Shape& image) {
  check(matrix.dim() == 3 && image.size() == 4,
        "matrix: wanted N x M x CHW and a shape N x C x H x W, got ",
        to_string(matrix.sizes()),
        " and ",
        to_string(image));
  check(matrix.size(2) == image[1] * image[2] * image[3],
        "matrix: ",
        matrix.size(2),
        " columns for images of ",
        to_string(image));
  return std::make_shared<DenseMatrix>(matrix, image);
}

}  // namespace eps
