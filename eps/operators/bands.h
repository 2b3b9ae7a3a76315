// The border of a frame as two bands on the torus, and circulant matrices on it.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `Bands` is the border of a frame: some rows, neighbours on the torus, over the whole width, and
// some columns over the other rows. Its values are vectors (N, C, size()): those of the rows, then
// those of the columns. It maps them into the Fourier domain of the frame and back without a
// transform of the frame: by one along each band, and a small matrix across.
class Bands {
 public:
  // rows and columns: numbers of lines, as circle_outside() returns them.
  Bands(const Tensor& rows, const Tensor& columns, int64_t height, int64_t width);

  int64_t size() const;
  // Returns rfft2 of the image that has these values on the border, and zeros elsewhere.
  Tensor into_spectrum(const Tensor& values) const;
  // Returns the values on the border of the image with this spectrum, (N, C, H, W/2 + 1).
  Tensor from_spectrum(const Tensor& spectrum) const;

  // The `Inverses` of a circulant matrix's part on each band.
  struct Inverses {
    Tensor rows, columns;  // (N or 1, frequencies along the band, k, k); undefined without a band
    at::Device device() const { return rows.defined() ? rows.device() : columns.device(); }
  };
  // symbol: of the circulant matrix, (N or 1, 1, H, W/2 + 1).
  Inverses inverses(const Tensor& symbol) const;
  // Returns the sum of what the inverses on both bands make of the values: near the inverse on the
  // whole border, but for the corners.
  Tensor solve(const Inverses& inverses, const Tensor& values) const;

 private:
  Tensor on_rows(const Tensor& values) const;     // (N, C, k, W)
  Tensor on_columns(const Tensor& values) const;  // (N, C, k, H), the corners 0
  Tensor joined(const Tensor& on_rows, const Tensor& on_columns) const;

  // The matrices below are used on the device of the values.
  const int64_t height_, width_;
  const Tensor rows_, columns_;
  Tensor across_rows_;     // (H, rows): e^(-2 pi i ky r / H)
  Tensor across_columns_;  // (W/2 + 1, columns): e^(-2 pi i kx c / W)
  Tensor mirrored_;        // (W/2 + 1, 1): how often rfft2's columns stand for a frequency, over W
  Tensor inner_;           // (H): 0 at the rows, 1 elsewhere
};

// Returns the numbers below n outside [begin, begin + length), neighbours on a circle next to one
// another.
Tensor circle_outside(int64_t n, int64_t begin, int64_t length, at::Device device);

}  // namespace eps
