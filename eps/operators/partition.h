// Different operators for different images of one batch: what an amortised network trains on.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// Images are in the order of the parts. A measurement is (N, M), each image's flattened and
// followed by zeros up to the longest.
class Partition final : public LinearOperator {
 public:
  struct Part {
    Operator A;
    int64_t begin, end;  // the images it acts on
  };
  // Each operator with the number of its images, for images like these (N, C, H, W).
  Partition(const std::vector<std::pair<Operator, int64_t>>& parts, const Tensor& like);

  Tensor apply(const Tensor& x) const override;
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override;
  Tensor picture(const Tensor& y) const override;
  Tensor measured(const Tensor& y) const override;
  int64_t batch() const override { return parts_.back().end; }

  const std::vector<Part>& parts() const { return parts_; }

 private:
  // The part's own measurement out of y, in the shape its operator gives it; and back.
  Tensor own(const Tensor& y, size_t part) const;
  Tensor padded(const Tensor& y) const;

  std::vector<Part> parts_;
  std::vector<Shape> shapes_;  // of each part's y, the first entry any N
  int64_t longest_ = 0;
};

// The parts of a partition; any other operator is one part with all the images.
std::vector<Partition::Part> parts_of(const Operator& A, int64_t images);

}  // namespace eps
