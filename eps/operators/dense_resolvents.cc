// Functions of A'A by resolvents with a dense matrix each.
#include "eps/operators/dense_resolvents.h"

#include <algorithm>

#include "eps/base/lasting.h"

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

DenseResolvents::DenseResolvents(const LinearOperator& A, double largest_eigenvalue)
    : Probed(A), iterations_(A), basis_(largest_eigenvalue, 24, 2.5) {}

Tensor DenseResolvents::filter(const Tensor& x, const EigenvalueMap& f) const {
  const PartialFractions fractions = basis_.fit(f);
  if (fractions.error > Krylov::kAcceptableFit) return iterations_.filter(x, f);
  const Tensor terms = kept_terms(x, fractions.first);
  return sum(x.to(at::kDouble), fractions.weights, terms).to(x.scalar_type());
}

Tensor DenseResolvents::sum(const Tensor& x, const Tensor& weights, const Tensor& terms) const {
  const Tensor w = weights.to(x.device());
  const Tensor others = w.slice(1, 1).t();  // (shifts, N or 1)
  return total(x, w, (others.reshape({others.size(0), -1, 1, 1, 1}) * terms).sum(0));
}

Tensor DenseResolvents::total(const Tensor& x, const Tensor& weights, const Tensor& sum) const {
  const Shape frame{x.size(2), x.size(3)};
  return weights.slice(1, 0, 1).reshape({-1, 1, 1, 1}) * x +
         at::fft_irfft2(sum, at::IntArrayRef(frame));
}

Tensor DenseResolvents::ridge(const Tensor& r, const Tensor& lambda) const {
  constexpr double kRounding = 1e-11, kLargestFactor = 0.02;
  const Tensor values = lambda.to(at::kCPU, at::kDouble).flatten();
  if (values.min().item<double>() < kRounding) return {};
  const Tensor wide = r.to(at::kDouble);
  const bool is_one = values.numel() == 1;
  if (is_one && r.device().is_cpu()) return exact_ridge(wide, values).to(r.scalar_type());

  // So many images at a time that the memory of their terms, or of their matrices, is bounded.
  const auto in_pieces = [&](int64_t images, const auto& solve) {
    std::vector<Tensor> pieces;
    for (int64_t begin = 0; begin < r.size(0); begin += images) {
      const auto own = [&](const Tensor& t) {
        return t.size(0) == 1 ? t : t.slice(0, begin, std::min(begin + images, r.size(0)));
      };
      pieces.push_back(solve(own));
    }
    return at::cat(pieces).to(r.scalar_type());
  };
  const Tensor l = values.reshape({-1, 1, 1, 1});
  const PartialFractions g =
      basis_.fit([&](const Tensor& e) { return 1 / (e + l); }, /*tolerance=*/2e-4, /*floor=*/0);
  const double factor = 2 * g.error;  // also between the points of the fit
  if (factor > kLargestFactor)
    return in_pieces(std::max<int64_t>(4 * kLargestDense * kLargestDense / (rows() * rows()), 1),
                     [&](const auto& own) { return exact_ridge(own(wide), own(values)); });
  const Tensor shift = l.to(r.device());
  return in_pieces(64, [&](const auto& own) {
    const auto approximate = [&](const Tensor& b) {
      return sum(b, own(g.weights), terms_of(b, g.first, shifts()));
    };
    return corrected(approximate, own(shift), A_.adjoint(own(wide)), factor);
  });
}

Tensor DenseResolvents::corrected(const Map& g,
                                  const Tensor& lambda,
                                  const Tensor& b,
                                  double factor) const {
  constexpr double kError = 1e-7;
  Tensor x = g(b);
  for (double error = factor; error > kError; error *= factor)
    x = x + g(b - normal(x) - lambda * x);
  return x;
}

Tensor DenseResolvents::terms_of(const Tensor& x, int64_t first, int64_t end) const {
  const Tensor s = at::tensor(basis_.shifts(), at::kDouble).slice(0, first, end).to(x.device());
  const auto solve = [&](const Tensor& v) {
    const Tensor matrices = inverses(first, end, v.device());
    Shape shape = v.sizes().vec();
    shape[0] = end - first;
    return at::matmul(v.flatten(1, 2), matrices).reshape(shape);
  };
  return terms(x, s.reshape({-1, 1, 1, 1, 1}), solve);
}

Tensor DenseResolvents::kept_terms(const Tensor& x, int64_t first) const {
  const std::lock_guard lock(mutex_);
  // Images that changed in place, or that derivatives follow, have terms of their own.
  const int64_t version = x.is_inference() ? 0 : static_cast<int64_t>(x._version());
  const bool differentiated = c10::GradMode::is_enabled() && x.requires_grad();
  if (!x_.is_same(x) || version_ != version || differentiated) {
    x_ = differentiated ? Tensor() : x;
    version_ = version;
    terms_ = Tensor();
  }
  const int64_t known = terms_.defined() ? shifts() - terms_.size(0) : shifts();
  if (first < known) {
    const Tensor more = terms_of(x.to(at::kDouble), first, known);
    terms_ = terms_.defined() ? at::cat({more, terms_}) : more;
  }
  return terms_.slice(0, terms_.size(0) - (shifts() - first));
}

Tensor DenseResolvents::inverses(int64_t first, int64_t end, at::Device device) const {
  const std::lock_guard lock(inverses_mutex_);
  const Lasting matrices;
  if (!inverses_.defined() || inverses_.device() != device) {
    inverses_ = at::empty({shifts(), rows(), rows()}, at::TensorOptions(device).dtype(at::kDouble));
    first_inverse_ = shifts();
  }
  // Derivatives of earlier terms hold the matrices that are there already: variable_data() has no
  // part in their count of changes.
  for (; first_inverse_ > first; --first_inverse_) {
    const double shift = basis_.shifts()[static_cast<size_t>(first_inverse_ - 1)];
    inverses_.variable_data()[first_inverse_ - 1].copy_(
        make_inverse(at::full({1}, shift, at::kDouble)));
  }
  return inverses_.slice(0, first, end);
}

}  // namespace eps
