// Convolution with a kernel that is not separable, and a border that is not circular.
#include "eps/operators/bordered_blur.h"

#include <optional>

#include "eps/base/lasting.h"
#include "eps/operators/edged_blur.h"
#include "eps/operators/factories.h"
#include "eps/operators/framed_blur.h"
#include "eps/operators/masked_blur.h"
#include "eps/operators/separable.h"

namespace eps {
namespace {

int64_t canvas_side(Border border, int64_t n, int64_t k) {
  return border == Border::valid ? n : n + k - 1;
}

// Returns the rows and columns (N, k) of kernels (N, kh, kw) that are products of the two, and
// nothing if one of them is none.
std::optional<std::pair<Tensor, Tensor>> factors(const Tensor& kernel) {
  const Tensor sum = kernel.sum({1, 2}, true), rows = kernel.sum(2), columns = kernel.sum(1);
  if ((sum == 0).any().item<bool>()) return {};
  const Tensor product = rows.unsqueeze(2) * columns.unsqueeze(1) / sum;
  constexpr double kRounding = 1e-7;  // of kernels in float32
  const Tensor size = kernel.abs().amax({1, 2}, true);
  if (((kernel - product).abs() > kRounding * size).any().item<bool>()) return {};
  return std::pair{rows / sum.squeeze(2), columns};
}

}  // namespace

Tensor in_frame(const Tensor& y, int64_t top, int64_t left, int64_t height, int64_t width) {
  return at::constant_pad_nd(y, {left, width - left - y.size(3), top, height - top - y.size(2)});
}

BorderedBlur::Axis BorderedBlur::make_axis(Border border, int64_t n, int64_t k, at::Device device) {
  const int64_t before = k - 1 - k / 2;
  if (border == Border::valid) return {before, n - k + 1, before, {}};
  return {before, n, 0, padding_matrix(border, n, before, k / 2).to(device)};
}

BorderedBlur::BorderedBlur(const Tensor& kernel, int64_t height, int64_t width, Border border)
    : height_(height),
      width_(width),
      rows_(make_axis(border, height, kernel.size(1), kernel.device())),
      columns_(make_axis(border, width, kernel.size(2), kernel.device())),
      canvas_(kernel,
              canvas_side(border, height, kernel.size(1)),
              canvas_side(border, width, kernel.size(2))),
      border_(border) {
  const int64_t left_out =
      height * width - (height - kernel.size(1) + 1) * (width - kernel.size(2) + 1);
  solvable_ = border == Border::valid ? FramedBlur::supports(canvas_)
                                      : EdgedBlur::supports(kernel, left_out);
}

Tensor BorderedBlur::inside() const {
  const Tensor& kernel = canvas_.kernel();
  const Tensor ones =
      at::ones({1, 1, height_ - kernel.size(1) + 1, width_ - kernel.size(2) + 1}, kernel.options());
  return in_frame(ones, rows_.begin, columns_.begin, height_, width_);
}

const LinearOperator& BorderedBlur::exact() const {
  std::call_once(once_, [this] {
    const Lasting matrices;
    if (border_ == Border::valid && MaskedBlur::supports(canvas_, inside()))
      exact_ = std::make_unique<MaskedBlur>(canvas_, inside());
    else if (border_ == Border::valid)
      exact_ = std::make_unique<FramedBlur>(
          canvas_, FramedBlur::Inside{rows_.begin, columns_.begin, rows_.length, columns_.length});
    else
      exact_ = std::make_unique<EdgedBlur>(
          CircularBlur(canvas_.kernel(), height_, width_), *this, places_where(1 - inside()));
  });
  return *exact_;
}

Tensor BorderedBlur::apply(const Tensor& x) const {
  check_image_size("blur", x, height_, width_);
  Tensor canvas = x;
  if (rows_.padding.defined())
    canvas = at::matmul(at::matmul(rows_.padding.to(x.options()), x),
                        columns_.padding.to(x.options()).transpose(0, 1));
  return canvas_.apply(canvas)
      .slice(2, rows_.begin, rows_.begin + rows_.length)
      .slice(3, columns_.begin, columns_.begin + columns_.length)
      .contiguous();
}

Tensor BorderedBlur::adjoint(const Tensor& y) const {
  const Tensor canvas =
      canvas_.adjoint(in_frame(y, rows_.begin, columns_.begin, canvas_.height(), canvas_.width()));
  if (!rows_.padding.defined()) return canvas;
  return at::matmul(at::matmul(rows_.padding.to(y.options()).transpose(0, 1), canvas),
                    columns_.padding.to(y.options()));
}

Tensor BorderedBlur::picture(const Tensor& y) const {
  return in_frame(y, rows_.place, columns_.place, height_, width_);
}

Tensor BorderedBlur::ridge(const Tensor& r, const Tensor& lambda) const {
  return solvable_ ? exact().ridge(picture(r), lambda) : LinearOperator::ridge(r, lambda);
}

Tensor BorderedBlur::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  return solvable_ ? exact().proximal(z, picture(y), lambda)
                   : LinearOperator::proximal(z, y, lambda);
}

const Spectral& BorderedBlur::functions() const {
  return solvable_ ? exact().functions() : LinearOperator::functions();
}

Operator blur(const Tensor& kernel, int64_t height, int64_t width, Border border) {
  if (border == Border::circular) return circular_blur(kernel, height, width);
  check_kernel(kernel, height, width);
  const Tensor wide = kernel.to(at::kDouble);
  const auto lines = factors(wide);
  if (!lines) return std::make_shared<BorderedBlur>(wide, height, width, border);
  const bool valid = border == Border::valid;
  const int64_t top = valid ? kernel.size(1) - 1 - kernel.size(1) / 2 : 0;
  const int64_t left = valid ? kernel.size(2) - 1 - kernel.size(2) / 2 : 0;
  return std::make_shared<Separable>(
      convolution_matrix(border, lines->first, height),
      convolution_matrix(border, lines->second, width),
      [=](const Tensor& y) { return in_frame(y, top, left, height, width); },
      std::map<std::string, Tensor>{{"kernel", wide}});
}

}  // namespace eps
