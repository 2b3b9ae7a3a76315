// Functions of A'A by resolvents with a dense matrix each.
#include "eps/operators/dense_resolvents.h"

#include <algorithm>

#include "eps/base/lasting.h"
#include "eps/math/partial_fractions.h"

namespace eps {

Tensor places_where(const Tensor& mask) { return mask.flatten().nonzero().flatten(); }

Tensor gather(const Tensor& image, const Tensor& places) {
  return image.flatten(-2).index_select(-1, places.to(image.device()));
}

Tensor scatter(const Tensor& values, const Tensor& places, int64_t height, int64_t width) {
  Shape shape = values.sizes().vec();
  shape.back() = height * width;
  const Tensor image = at::zeros(shape, values.options());
  shape.back() = height;
  shape.push_back(width);
  return image.index_copy(-1, places.to(values.device()), values).reshape(shape);
}

CirculantPart::CirculantPart(const Tensor& rows,
                             const Tensor& columns,
                             int64_t height,
                             int64_t width)
    : height_(height), width_(width) {
  const auto apart = [](const Tensor& a, const Tensor& b, int64_t n) {
    return at::remainder(a.unsqueeze(1) - b, n);
  };
  const auto line = [&](const Tensor& places) { return at::floor_divide(places, width); };
  difference_ = apart(line(rows), line(columns), height) * width + apart(rows, columns, width);
}

Tensor CirculantPart::of(const Tensor& symbols) const {
  const Shape frame{height_, width_};
  return at::fft_irfft2(symbols, at::IntArrayRef(frame))
      .flatten(1)
      .index_select(1, difference_.flatten().to(symbols.device()))
      .reshape({-1, difference_.size(0), difference_.size(1)});
}

Tensor ridge_in_pieces(const Tensor& r,
                       const Tensor& lambda,
                       int64_t rows,
                       const Ridge& exact,
                       const Ridge& otherwise) {
  constexpr double kRounding = 1e-11;
  const Tensor values = lambda.to(at::kDouble).flatten();
  if (rows == 0 || values.min().item<double>() < kRounding) return otherwise(r, lambda);
  const Tensor wide = r.to(at::kDouble);
  if (values.numel() == 1) return exact(wide, values).to(r.scalar_type());
  const int64_t piece = std::max<int64_t>(4 * kLargestDense * kLargestDense / (rows * rows), 1);
  std::vector<Tensor> pieces;
  for (int64_t begin = 0; begin < r.size(0); begin += piece) {
    const int64_t end = std::min(begin + piece, r.size(0));
    pieces.push_back(exact(wide.slice(0, begin, end), values.slice(0, begin, end)));
  }
  return at::cat(pieces).to(r.scalar_type());
}

DenseResolvents::DenseResolvents(const LinearOperator& A, double largest_eigenvalue)
    : Probed(A),
      iterations_(A),
      largest_(largest_eigenvalue),
      shifts_(resolvent_shifts(largest_, 23, 2.5)),
      inverses_(shifts_.size()) {}

Tensor DenseResolvents::filter(const Tensor& x, const EigenvalueMap& f) const {
  const PartialFractions fractions = partial_fractions(f, shifts_, largest_);
  if (fractions.error > Krylov::kAcceptableFit) return iterations_.filter(x, f);
  const Tensor weights = fractions.weights.to(x.device());
  const Tensor others = weights.slice(1, 1).t();  // (shifts, N or 1)
  const Tensor all = terms_from(x, static_cast<int64_t>(fractions.first));
  const Tensor sum = (others.reshape({others.size(0), -1, 1, 1, 1}) * all).sum(0);
  return total(x.to(at::kDouble), weights, sum).to(x.scalar_type());
}

Tensor DenseResolvents::total(const Tensor& x, const Tensor& weights, const Tensor& sum) const {
  const Shape frame{x.size(2), x.size(3)};
  return weights.slice(1, 0, 1).reshape({-1, 1, 1, 1}) * x +
         at::fft_irfft2(sum, at::IntArrayRef(frame));
}

Tensor DenseResolvents::terms_from(const Tensor& x, int64_t first) const {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<int64_t>(shifts_.size());
  // Images that changed in place, or that derivatives follow, have terms of their own.
  const int64_t version = x.is_inference() ? 0 : static_cast<int64_t>(x._version());
  const bool differentiated = c10::GradMode::is_enabled() && x.requires_grad();
  if (!x_.is_same(x) || version_ != version || differentiated) {
    x_ = differentiated ? Tensor() : x;
    version_ = version;
    terms_ = Tensor();
  }
  const int64_t known = terms_.defined() ? count - terms_.size(0) : count;
  if (first < known) {
    const Tensor s = at::tensor(shifts_, at::kDouble).slice(0, first, known).to(x.device());
    const auto solve = [&](const Tensor& v) {
      std::vector<Tensor> each;
      for (int64_t j = first; j < known; ++j)
        each.push_back(at::matmul(v[v.size(0) == 1 ? 0 : j - first], inverse(j).to(v.device())));
      return at::stack(each);
    };
    const Tensor more = terms(x.to(at::kDouble), s.reshape({-1, 1, 1, 1, 1}), solve);
    terms_ = terms_.defined() ? at::cat({more, terms_}) : more;
  }
  return terms_.slice(0, terms_.size(0) - (count - first));
}

const Tensor& DenseResolvents::inverse(int64_t j) const {
  Tensor& known = inverses_[static_cast<size_t>(j)];
  if (!known.defined()) {
    const Lasting inverse;
    known = make_inverse(at::tensor(shifts_, at::kDouble).slice(0, j, j + 1));
  }
  return known;
}

}  // namespace eps
