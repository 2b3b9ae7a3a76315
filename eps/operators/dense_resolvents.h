// Functions of A'A by resolvents with a dense matrix each: blurs that a Fourier transform inverts
// but for some pixels.
#pragma once

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

// The most rows of a dense matrix: 52 MB, and a second to factorise. Functions keep up to 23.
constexpr int64_t kLargestDense = 2560;

// Returns ridge(r, lambda) by `exact`, which takes one lambda, (1), or one for each image, (N), and
// solves with a dense matrix of `rows` rows for each: for so many images at a time that their
// memory is bounded. A lambda so small that the matrices lose too many digits, and r that has no
// such matrix, are left to `otherwise`.
using Ridge = std::function<Tensor(const Tensor& r, const Tensor& lambda)>;
Tensor ridge_in_pieces(const Tensor& r,
                       const Tensor& lambda,
                       int64_t rows,
                       const Ridge& exact,
                       const Ridge& otherwise);

// `DenseResolvents` give f(A'A) x as a sum of resolvents at fixed shifts
// (eps/math/partial_fractions.h). The inverse of each shift's dense matrix is computed when it is
// first wanted.
class DenseResolvents : public Probed {
 public:
  DenseResolvents(const LinearOperator& A, double largest_eigenvalue);

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const final;

 protected:
  // Returns inverse_j v_j of the shifts of a term: v is (shifts or 1, N, C, k).
  using Solve = std::function<Tensor(const Tensor& v)>;
  // Returns the inverse of a shift's dense matrix, which is symmetric: (k, k), float64.
  virtual Tensor make_inverse(const Tensor& shift) const = 0;
  // Returns the part of s (A'A + s)^{-1} x that depends on the shift, (shifts, ...) for s (shifts,
  // 1, 1, 1, 1), as total() takes it.
  virtual Tensor terms(const Tensor& x, const Tensor& s, const Solve& solve) const = 0;
  // Returns w_0 x + sum_j w_j s_j (A'A + s_j)^{-1} x, where `sum` is the weighted sum of the terms.
  // The default takes terms that are s (A'A + s)^{-1} x in the Fourier domain.
  virtual Tensor total(const Tensor& x, const Tensor& weights, const Tensor& sum) const;

 private:
  Tensor terms_from(const Tensor& x, int64_t first) const;
  const Tensor& inverse(int64_t j) const;

  const Krylov iterations_;  // for functions that the fixed shifts do not resolve
  const double largest_;
  const std::vector<double> shifts_;
  mutable std::vector<Tensor> inverses_;
  mutable std::mutex mutex_;
  mutable Tensor x_, terms_;     // c_in x and c_skip x of one evaluation share the terms
  mutable int64_t version_ = 0;  // of x_
};

}  // namespace eps
