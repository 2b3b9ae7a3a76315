// The border of a frame as two bands on the torus, and circulant matrices on it.
#pragma once

#include "eps/math/conjugate_gradients.h"
#include "eps/operators/converted.h"

namespace eps {

// A `Bands` is the border of a frame: some rows, neighbours on the torus, over the whole width, and
// some columns over the whole height; the corners count with the rows. Its values map into the
// Fourier domain of the frame and back without a transform of the frame: by one along each band,
// and a small matrix across.
class Bands {
 public:
  // rows and columns: numbers of lines, as circle_outside() returns them.
  Bands(const Tensor& rows, const Tensor& columns, int64_t height, int64_t width);

  int64_t columns() const { return columns_.numel(); }

  // The `Inverses` of a circulant matrix's part on each band, float64.
  struct Inverses {
    Tensor rows, columns;  // (N or 1, frequencies along the band, k, k); undefined without a band
    at::Device device() const { return rows.defined() ? rows.device() : columns.device(); }
  };
  // symbol: of the circulant matrix, (N or 1, 1, H, W/2 + 1), float64.
  Inverses inverses(const Tensor& symbol) const;

  // A `Solved` system has the spectrum of C u, where C is the circulant matrix and u is 0 but on
  // the border, and the u of the columns, (N, C, columns, H), with the corners 0.
  struct Solved {
    Tensor spectrum;
    Solution columns;
  };
  // Finds the u on the border with which C u is there as an image of this spectrum, (N, C, H,
  // W/2 + 1). Its precision is that of the spectrum and the symbol; `start` is a u of the columns.
  // The tolerance holds in the norm of S^{-1}, S the part of C on the border.
  //
  // The rows' unknowns are eliminated, R^{-1} exactly. What is left is Schur's complement
  // Q - X'R^{-1}X on the columns but for the corners. The inverse on the columns with the corners,
  // restricted to the others, is that of Q with the corners eliminated: a preconditioner that lacks
  // only what the rows do beyond the corners.
  Solved solve(const Tensor& symbol,
               const Inverses& inverses,
               const Tensor& spectrum,
               ConjugateGradientsOptions options) const;

 private:
  // These functions map the values of a band, (N, C, k, length), into the spectrum and back;
  // columns come back with the corners 0.
  Tensor rows_into(const Tensor& rows) const;
  Tensor columns_into(const Tensor& columns) const;
  Tensor rows_from(const Tensor& spectrum) const;
  Tensor columns_from(const Tensor& spectrum) const;

  const int64_t height_, width_;
  const Tensor rows_, columns_;
  const Converted into_rows_;                 // (H, rows): e^(-2 pi i ky r / H)
  const Converted into_columns_;              // (columns, W/2 + 1): e^(-2 pi i kx c / W)
  const Converted from_rows_, from_columns_;  // back, over the number of frequencies
  const Converted inner_;                     // (H): 0 at the rows, 1 elsewhere
};

// Returns the numbers below n outside [begin, begin + length), neighbours on a circle next to one
// another.
Tensor circle_outside(int64_t n, int64_t begin, int64_t length, at::Device device);

}  // namespace eps
