// Functions of A'A by resolvents with a dense matrix each: blurs that a Fourier transform inverts
// but for some pixels.
#pragma once

#include "eps/math/partial_fractions.h"
#include "eps/operators/krylov.h"

namespace eps {

// Places are the indices of pixels in the flattened frame.
Tensor places_where(const Tensor& mask);  // of the entries that are not 0
// Returns the pixels of images (..., H, W) at the places: (..., k).
Tensor gather(const Tensor& image, const Tensor& places);
// Returns images of H x W with the values (..., k) at the places, and zeros elsewhere.
Tensor scatter(const Tensor& values, const Tensor& places, int64_t height, int64_t width);

// A `CirculantPart` is the part of circulant matrices that has the rows and columns of some pixels
// of the frame.
class CirculantPart {
 public:
  CirculantPart(const Tensor& rows, const Tensor& columns, int64_t height, int64_t width);
  // Returns it for symbols in the layout of rfft2, (shifts, H, W/2 + 1): (shifts, rows, columns).
  Tensor of(const Tensor& symbols) const;

 private:
  int64_t height_, width_;
  Tensor difference_;  // (rows, columns): the place of the difference of two pixels
};

// The most rows of a dense matrix: 52 MB, and a second to factorise. Functions keep up to 24.
constexpr int64_t kLargestDense = 2560;

// `DenseResolvents` give f(A'A) x as a sum of resolvents at fixed shifts
// (eps/math/partial_fractions.h). The inverse of each shift's dense matrix is computed when it is
// first wanted.
class DenseResolvents : public Probed {
 public:
  DenseResolvents(const LinearOperator& A, double largest_eigenvalue);

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const final { return filters(x, {f})[0]; }
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const final;

  // Returns A.ridge(r, lambda) for lambdas above the rounding of dense matrices; undefined below.
  //
  // A matrix of its own is factorised for a lambda of all images on a CPU. Where each image has its
  // own lambda, or a GPU would wait for the factors, a sum of the resolvents at the fixed shifts
  // approximates (A'A + lambda)^{-1} to some 1e-4 in every direction, and is corrected until the
  // error is below 1e-7, or 4e-7 in single precision.
  Tensor ridge(const Tensor& r, const Tensor& lambda) const;

 protected:
  // Returns inverse_j v_j of the shifts of a term: v is (shifts or 1, N, C, k).
  using Solve = std::function<Tensor(const Tensor& v)>;
  // Returns (A'A + lambda)^{-1} A' r for one lambda, (1), or one for each image, (N), in float64.
  virtual Tensor exact_ridge(const Tensor& r, const Tensor& lambda) const = 0;
  virtual int64_t rows() const = 0;  // of the dense matrices
  // Returns the inverse of a shift's dense matrix, which is symmetric: (k, k), float64.
  virtual Tensor make_inverse(const Tensor& shift) const = 0;
  // Returns the part of s (A'A + s)^{-1} x that depends on the shift, (shifts, ...) for s (shifts,
  // 1, 1, 1, 1), as total() takes it.
  virtual Tensor terms(const Tensor& x, const Tensor& s, const Solve& solve) const = 0;
  // Returns w_0 x + sum_j w_j s_j (A'A + s_j)^{-1} x, where `sum` is the weighted sum of the terms.
  // The default takes terms that are s (A'A + s)^{-1} x in the Fourier domain.
  virtual Tensor total(const Tensor& x, const Tensor& weights, const Tensor& sum) const;

 private:
  int64_t shifts() const { return static_cast<int64_t>(basis_.shifts().size()); }
  // Returns w_0 x + sum_j w_j s_j (A'A + s_j)^{-1} x over the shifts from the first, for each
  // function's weights, (functions, N or 1, 1 + shifts).
  std::vector<Tensor> sums(const Tensor& x, const Tensor& weights, int64_t first) const;
  Tensor inverses(int64_t first, at::Device device) const;  // (shifts from the first, k, k)

  const Krylov iterations_;  // for functions that the fixed shifts do not resolve
  const ResolventBasis basis_;
  mutable std::mutex mutex_;
  mutable Tensor inverses_;  // of all shifts, of which those from first_inverse_ are there
  mutable int64_t first_inverse_ = 0;
};

}  // namespace eps
