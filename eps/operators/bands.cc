// The border of a frame as two bands on the torus.
#include "eps/operators/bands.h"

#include <cmath>

namespace eps {
namespace {

// Returns e^(-2 pi i k l / n) of the first `count` frequencies k and the lines l: (count, lines).
Tensor waves_at(const Tensor& lines, int64_t count, int64_t n) {
  const auto real = lines.options().dtype(at::kDouble);
  const Tensor k = at::arange(count, lines.options());
  const Tensor turns =
      at::remainder(k.unsqueeze(1) * lines.unsqueeze(0), n).to(real) / static_cast<double>(n);
  return at::polar(at::ones_like(turns), -2 * M_PI * turns);
}

// Returns the inverse of each frequency's matrix along these lines of a response to an impulse,
// (N or 1, lines of the frame, length).
Tensor inverses_along(const Tensor& response, const Tensor& lines) {
  const int64_t n = response.size(1), k = lines.numel();
  if (k == 0) return {};
  const Tensor difference = at::remainder(lines.unsqueeze(1) - lines.unsqueeze(0), n).flatten();
  const Tensor blocks = at::fft_rfft(response.index_select(1, difference));
  return at::linalg_inv(
      blocks.reshape({response.size(0), k, k, -1}).permute({0, 3, 1, 2}).contiguous());
}

// Returns the inverses applied to the values of a band, (N, C, k, length).
Tensor solved_along(const Tensor& inverses, const Tensor& values) {
  const Tensor hat = at::fft_rfft(values).permute({0, 3, 2, 1});  // (N, frequencies, k, C)
  return at::fft_irfft(at::matmul(inverses, hat).permute({0, 3, 2, 1}), values.size(3));
}

}  // namespace

Tensor circle_outside(int64_t n, int64_t begin, int64_t length, at::Device device) {
  const auto whole = at::TensorOptions(at::kLong).device(device);
  return at::cat({at::arange(begin + length, n, whole), at::arange(begin, whole)});
}

Bands::Bands(const Tensor& rows, const Tensor& columns, int64_t height, int64_t width)
    : height_(height),
      width_(width),
      rows_(rows),
      columns_(columns),
      across_rows_(waves_at(rows, height, height)),
      across_columns_(waves_at(columns, width / 2 + 1, width)),
      mirrored_(at::full({width / 2 + 1, 1},
                         2.0 / static_cast<double>(width),
                         across_rows_.options().dtype(at::kDouble))),
      inner_(at::ones({height}, mirrored_.options()).index_fill(0, rows, 0)) {
  mirrored_[0].div_(2);
  if (width % 2 == 0) mirrored_[width / 2].div_(2);
}

int64_t Bands::size() const { return rows_.numel() * width_ + columns_.numel() * height_; }

Tensor Bands::on_rows(const Tensor& values) const {
  return values.slice(2, 0, rows_.numel() * width_).unflatten(2, {rows_.numel(), width_});
}

Tensor Bands::on_columns(const Tensor& values) const {
  return values.slice(2, rows_.numel() * width_).unflatten(2, {columns_.numel(), height_});
}

Tensor Bands::joined(const Tensor& on_rows, const Tensor& on_columns) const {
  return at::cat({on_rows.flatten(2), (on_columns * inner_.to(on_columns.device())).flatten(2)}, 2);
}

Tensor Bands::into_spectrum(const Tensor& values) const {
  Tensor all = at::matmul(across_rows_.to(values.device()), at::fft_rfft(on_rows(values)));
  if (columns_.numel() == 0) return all;
  const Tensor hat = at::fft_fft(on_columns(values)).transpose(2, 3);  // (N, C, H, k)
  return all + at::matmul(hat, across_columns_.to(values.device()).transpose(0, 1));
}

Tensor Bands::from_spectrum(const Tensor& spectrum) const {
  const Tensor rows =
      at::matmul(across_rows_.to(spectrum.device()).transpose(0, 1).conj().resolve_conj(),
                 spectrum) /
      static_cast<double>(height_);
  const Tensor columns =
      at::matmul(spectrum, (across_columns_.conj() * mirrored_).to(spectrum.device()))
          .transpose(2, 3);  // (N, C, k, H)
  return joined(at::fft_irfft(rows, width_), at::real(at::fft_ifft(columns)));
}

Bands::Inverses Bands::inverses(const Tensor& symbol) const {
  const Shape frame{height_, width_};
  const Tensor response = at::fft_irfft2(symbol, at::IntArrayRef(frame)).squeeze(1);
  return {inverses_along(response, rows_.to(symbol.device())),
          inverses_along(response.transpose(1, 2), columns_.to(symbol.device()))};
}

Tensor Bands::solve(const Inverses& inverses, const Tensor& values) const {
  const bool has_rows = rows_.numel() > 0, has_columns = columns_.numel() > 0;
  const Tensor row_places = rows_.to(values.device()), column_places = columns_.to(values.device());
  Tensor rows = on_rows(values), columns = on_columns(values);
  // The columns' corners lie on the rows.
  if (has_columns && has_rows)
    columns =
        columns.index_copy(3, row_places, rows.index_select(3, column_places).transpose(2, 3));
  if (has_rows) rows = solved_along(inverses.rows, rows);
  if (!has_columns) return joined(rows, columns);
  columns = solved_along(inverses.columns, columns);
  if (has_rows)
    rows = rows.index_add(3, column_places, columns.index_select(3, row_places).transpose(2, 3));
  return joined(rows, columns);
}

}  // namespace eps
