// Borders of a convolution.
#include "eps/operators/border.h"

#include <algorithm>

namespace eps {
namespace {

// The names are a function's, as operators of other files ask for them while they are registered.
const std::vector<std::string>& border_names() {
  static const std::vector<std::string> names = {
      "circular", "valid", "reflect", "reflect101", "replicate", "zero"};
  return names;
}

int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

// Returns the pixel of the row that stands at `place`, or -1 for none.
int64_t source_of(Border border, int64_t place, int64_t n) {
  if (place >= 0 && place < n) return place;
  switch (border) {
    case Border::circular:
      return modulo(place, n);
    case Border::reflect: {
      const int64_t turn = modulo(place, 2 * n);
      return turn < n ? turn : 2 * n - 1 - turn;
    }
    case Border::reflect101: {
      if (n == 1) return 0;
      const int64_t turn = modulo(place, 2 * n - 2);
      return turn < n ? turn : 2 * n - 2 - turn;
    }
    case Border::replicate:
      return std::clamp<int64_t>(place, 0, n - 1);
    case Border::valid:
    case Border::zero:
      break;
  }
  return -1;
}

}  // namespace

Field border_field() {
  return Field::choice("border",
                       "circular",
                       border_names(),
                       "beyond the frame: valid, y is smaller by the kernel's reach; or a rule");
}

Border border_of(const Spec& spec) { return parse_border(spec.text("border")); }

Border parse_border(const std::string& name) {
  const auto& names = border_names();
  const auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(), "border ", name, ": wanted ", alternatives(names));
  return static_cast<Border>(found - names.begin());
}

std::string to_string(Border border) { return border_names()[static_cast<size_t>(border)]; }

Tensor padding_matrix(Border border, int64_t n, int64_t before, int64_t after) {
  if (border == Border::valid) return at::eye(n, at::kDouble);
  Tensor matrix = at::zeros({n + before + after, n}, at::kDouble);
  auto entry = matrix.accessor<double, 2>();
  for (int64_t row = 0; row < matrix.size(0); ++row)
    if (const int64_t source = source_of(border, row - before, n); source >= 0)
      entry[row][source] = 1;
  return matrix;
}

// y_i = sum_j k_j x_{i - j + k/2}: the kernel, flipped, slides over the continued row.
Tensor convolution_matrix(Border border, const Tensor& line, int64_t n) {
  const int64_t k = line.size(1), before = k - 1 - k / 2;
  const Tensor padding = padding_matrix(border, n, before, k / 2).to(line.device());
  const int64_t length = padding.size(0) - k + 1;
  Tensor sliding = at::zeros({line.size(0), length, padding.size(0)}, line.options());
  for (int64_t j = 0; j < k; ++j)
    sliding.diagonal(k - 1 - j, 1, 2)
        .slice(1, 0, length)
        .copy_(line.slice(1, j, j + 1).expand({-1, length}));
  return at::matmul(sliding, padding.to(line.options()));
}

}  // namespace eps
