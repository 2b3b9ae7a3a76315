// Singular vectors of operators on small images: a fast basis for operators that have none.
#pragma once

#include "eps/operators/converted.h"
#include "eps/operators/operator.h"

namespace eps {

// A `DenseBasis` is an operator A = U S V' within each channel, with the matrices U and V kept. Its
// pivots and functions of A'A take a product with one of them each way, whatever A is, and decide
// nothing on the host. They are read once for a batch, so that a GPU with much bandwidth takes less
// time for them than for iterations, or for sums of resolvents.
class DenseBasis final : public LinearOperator, public Spectral {
 public:
  // Returns the operator for images like `like`, of which it takes size and device, or nothing
  // where A mixes channels or has a map for each image.
  static std::shared_ptr<const DenseBasis> of(const Operator& A, const Tensor& like);

  Tensor apply(const Tensor& x) const override { return A_->apply(x); }
  Tensor adjoint(const Tensor& y) const override { return A_->adjoint(y); }
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  const MeasurementFormat& format() const override { return A_->format(); }

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  bool keeps_channels() const override { return true; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return filters(x, {f})[0];
  }
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override;
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  Tensor normal_diagonal(const Tensor& like) const override;
  Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const override;
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override;

  // A maps each channel by the matrix, (measurements, pixels), float64, from H x W pixels.
  DenseBasis(Operator A, const Tensor& matrix, int64_t height, int64_t width);

 private:
  struct Vectors {
    Tensor u, e, v;  // those of the eigenvalues that are not 0
  };
  static Vectors vectors_of(const Tensor& matrix);
  DenseBasis(Operator A, const Vectors& vectors, int64_t height, int64_t width);
  // Returns f(0), (N or 1, 1, 1), and f(e) - f(0) of the eigenvalues, (N or 1, 1, rank).
  std::pair<Tensor, Tensor> gains(const Tensor& like, const EigenvalueMap& f) const;

  const Operator A_;
  const int64_t height_, width_;
  const Converted u_, v_;        // (measurements, rank), (pixels, rank)
  const Converted eigenvalues_;  // (1, 1, 1, 1 + rank), the first is 0
};

// Returns the operator with a DenseBasis where that saves time: on a GPU, for images of at most
// some thousand pixels, and at least hundreds of `evaluations` of batches like `like`, which is
// what the singular vectors cost.
Operator for_many_evaluations(const Operator& A, const Tensor& like, int64_t evaluations);

}  // namespace eps
