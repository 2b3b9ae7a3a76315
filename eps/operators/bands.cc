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

// Returns the inverses applied to the values of a band, (N, C, k, length), in float64.
Tensor solved_along(const Tensor& inverses, const Tensor& values) {
  const Tensor wide = values.to(at::kDouble);
  if (!inverses.defined()) return wide;
  const Tensor hat = at::fft_rfft(wide).permute({0, 3, 2, 1});  // (N, frequencies, k, C)
  return at::fft_irfft(at::matmul(inverses, hat).permute({0, 3, 2, 1}), values.size(3));
}

// Returns how often rfft's frequencies, (W/2 + 1, 1), stand for one of the W, over W.
Tensor mirrored(int64_t width, const at::TensorOptions& options) {
  const double all = static_cast<double>(width);
  const Tensor often = at::full({width / 2 + 1, 1}, 2 / all, options);
  often[0].fill_(1 / all);
  if (width % 2 == 0) often[width / 2].fill_(1 / all);
  return often;
}

Tensor along(const Converted& matrix, const Tensor& like) {
  return matrix.as(like.device(), at::toComplexType(at::toRealValueType(like.scalar_type())));
}

// Returns the transform along the last dimension. PyTorch 2.11's MKL refuses that of no lines,
// which has the shape of the transform of one.
template <class Transform>
Tensor transformed(const Tensor& lines, const Transform& transform) {
  if (lines.numel() > 0) return transform(lines);
  Shape one = lines.sizes().vec();
  for (size_t i = 0; i + 1 < one.size(); ++i) one[i] = 1;
  const Tensor like = transform(at::zeros(one, lines.options()));
  Shape shape = lines.sizes().vec();
  shape.back() = like.size(-1);
  return at::empty(shape, like.options());
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
      into_rows_(waves_at(rows, height, height)),
      into_columns_(waves_at(columns, width / 2 + 1, width).t().contiguous()),
      from_rows_(into_rows_.exact().t().conj().resolve_conj() / static_cast<double>(height)),
      from_columns_(into_columns_.exact().t().conj().resolve_conj() *
                    mirrored(width, rows.options().dtype(at::kDouble))),
      inner_(at::ones({height}, rows.options().dtype(at::kDouble)).index_fill(0, rows, 0)) {}

Tensor Bands::rows_into(const Tensor& rows) const {
  return at::matmul(along(into_rows_, rows),
                    transformed(rows, [](const Tensor& x) { return at::fft_rfft(x); }));
}

Tensor Bands::columns_into(const Tensor& columns) const {
  const Tensor waves = transformed(columns, [](const Tensor& x) { return at::fft_fft(x); });
  return at::matmul(waves.transpose(2, 3), along(into_columns_, columns));
}

Tensor Bands::rows_from(const Tensor& spectrum) const {
  return transformed(at::matmul(along(from_rows_, spectrum), spectrum),
                     [this](const Tensor& rows) { return at::fft_irfft(rows, width_); });
}

Tensor Bands::columns_from(const Tensor& spectrum) const {
  const Tensor columns = at::matmul(spectrum, along(from_columns_, spectrum)).transpose(2, 3);
  const Tensor image = transformed(columns, [](const Tensor& x) { return at::fft_ifft(x); });
  return at::real(image) * inner_.as(spectrum.device(), at::kDouble);
}

Bands::Inverses Bands::inverses(const Tensor& symbol) const {
  const Shape frame{height_, width_};
  const Tensor response = at::fft_irfft2(symbol, at::IntArrayRef(frame)).squeeze(1);
  return {inverses_along(response, rows_.to(symbol.device())),
          inverses_along(response.transpose(1, 2), columns_.to(symbol.device()))};
}

Bands::Solved Bands::solve(const Tensor& symbol,
                           const Inverses& inverses,
                           const Tensor& spectrum,
                           ConjugateGradientsOptions options) const {
  const auto type = symbol.scalar_type();
  const Tensor inner = inner_.as(symbol.device(), at::kDouble);
  const auto of_columns = [&](const Tensor& columns) {
    return symbol * columns_into(columns.to(type));
  };
  // Returns the spectrum of C v with the v on the rows with which it is there as this one.
  const auto of_rows = [&](const Tensor& wanted) {
    return symbol * rows_into(solved_along(inverses.rows, rows_from(wanted)).to(type));
  };
  options.precondition = [&](const Tensor& columns) {
    return solved_along(inverses.columns, columns) * inner;
  };
  const auto complement = [&](const Tensor& columns) {
    const Tensor moved = of_columns(columns);
    return columns_from(moved - of_rows(moved));
  };
  const Solution found =
      solve_conjugate_gradients(complement, columns_from(spectrum - of_rows(spectrum)), options);
  const Tensor moved = of_columns(found.u);
  return {moved + of_rows(spectrum - moved), found};
}

}  // namespace eps
