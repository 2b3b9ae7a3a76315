// Sparse matrices on the flattened image, or on each of its channels.
#include "eps/operators/factories.h"

namespace eps {
namespace {

// Returns 1 / sum, and 0 where the sum is 0.
Tensor inverse_sum(const Tensor& sum) { return ridge_gain(sum, scalar(0)); }

class Sparse final : public LinearOperator {
 public:
  Sparse(const SparseMatrix& matrix, const Shape& image, const Shape& measurement)
      : matrix_(matrix),
        transposed_(matrix.transposed()),
        image_(image.begin() + 1, image.end()),
        measurement_(measurement) {
    const SparseMatrix weight = matrix_.absolute();
    const auto ones = [](int64_t count) { return at::ones({1, count}, at::kDouble); };
    of_rows_ = inverse_sum(weight.times(ones(weight.columns())));
    of_columns_ = inverse_sum(weight.transposed().times(ones(weight.rows())));
    squares_ = matrix_.squared().transposed().times(ones(weight.rows()));
  }
  Sparse(const Sparse& cpu, at::Device device)
      : matrix_(cpu.matrix_.to(device)),
        transposed_(cpu.transposed_.to(device)),
        image_(cpu.image_),
        measurement_(cpu.measurement_),
        of_rows_(cpu.of_rows_.to(device)),
        of_columns_(cpu.of_columns_.to(device)),
        squares_(cpu.squares_.to(device)) {}

  Tensor apply(const Tensor& x) const override {
    check(x.sizes().slice(1) == at::IntArrayRef(image_),
          "sparse matrix: made for images of ",
          to_string(image_),
          ", got ",
          to_string(x.sizes().slice(1)));
    return shaped(matrix_.times(x.reshape({-1, matrix_.columns()})), x, measurement_);
  }
  Tensor adjoint(const Tensor& y) const override {
    check_measurement(y);
    return shaped(transposed_.times(y.reshape({-1, matrix_.rows()})), y, image_);
  }

  // A matrix for one channel has its diagonal in each.
  Tensor structural_diagonal(const Tensor& like) const override {
    const int64_t channels = like[0].numel() / squares_.numel();
    return squares_.repeat({1, channels}).reshape({1, like.size(1), like.size(2), like.size(3)});
  }

  // Returns the first step of SIRT: A'y, each measurement divided by the sum of its row's absolute
  // values, and each pixel by that of its column. A constant image stays one if A is not negative.
  Tensor picture(const Tensor& y) const override {
    const Tensor rows = y.reshape({-1, matrix_.rows()}) * of_rows_.to(y.options());
    return shaped(transposed_.times(rows) * of_columns_.to(y.options()), y, image_);
  }

 private:
  void check_measurement(const Tensor& y) const {
    check(y.sizes().slice(1) == at::IntArrayRef(measurement_),
          "sparse matrix: a measurement has ",
          to_string(measurement_),
          " values per image, got ",
          to_string(y.sizes().slice(1)));
  }
  static Tensor shaped(const Tensor& values, const Tensor& like, const Shape& rest) {
    Shape shape{like.size(0)};
    shape.insert(shape.end(), rest.begin(), rest.end());
    return values.reshape(shape);
  }

  const SparseMatrix matrix_, transposed_;
  const Shape image_, measurement_;  // without the batch
  Tensor of_rows_, of_columns_;      // inverse sums of absolute values
  Tensor squares_;                   // the sums of squares of the columns
};

}  // namespace

Operator sparse_matrix(const SparseMatrix& matrix,
                       const Shape& image,
                       const Shape& measurement,
                       at::Device device) {
  const Shape one(image.begin() + 1, image.end());
  const int64_t values = c10::multiply_integers(one);
  check(
      image.size() == 4 && (matrix.columns() == values || matrix.columns() == image[2] * image[3]),
      "matrix: ",
      matrix.columns(),
      " columns; an image of ",
      to_string(one),
      " has ",
      values,
      " values, and ",
      image[2] * image[3],
      " in a channel");
  const int64_t measured = matrix.rows() * (values / matrix.columns());
  check(c10::multiply_integers(measurement) == measured,
        "matrix: a measurement of ",
        to_string(measurement),
        " for ",
        measured,
        " values");
  const auto cpu = std::make_shared<Sparse>(matrix, image, measurement);
  return device.is_cpu() ? cpu : std::make_shared<Sparse>(*cpu, device);
}

}  // namespace eps
