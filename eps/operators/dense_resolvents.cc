// Functions of A'A by resolvents with a dense matrix each.
#include "eps/operators/dense_resolvents.h"

#include <algorithm>

#include "eps/base/lasting.h"

namespace eps {
namespace {

// Returns sum_j w_j terms_j for each function's weights, (functions, N or 1, shifts), of real or
// complex terms (shifts, N, ...).
Tensor weighted_sums(const Tensor& terms, const Tensor& weights) {
  const Tensor parts = terms.is_complex() ? at::view_as_real(terms) : terms;
  Shape shape = parts.sizes().vec();
  shape[0] = weights.size(0);
  // Products of matrices read the terms once for all functions.
  const bool shared = weights.size(1) == 1;
  const Tensor sums = shared
                          ? at::matmul(weights.squeeze(1), parts.flatten(1)).reshape(shape)
                          : at::matmul(weights.permute({1, 0, 2}), parts.flatten(2).transpose(0, 1))
                                .transpose(0, 1)
                                .reshape(shape);
  return terms.is_complex() ? at::view_as_complex(sums) : sums;
}

// Solves for so many of the images at a time. `own` takes theirs from a tensor for all of them, or
// from one with an entry for each in its dimension.
template <class Solve>
Tensor in_pieces(int64_t count, int64_t images, const Solve& solve) {
  std::vector<Tensor> pieces;
  for (int64_t begin = 0; begin < count; begin += std::max<int64_t>(images, 1)) {
    const auto own = [&](const Tensor& t, int64_t dim = 0) {
      const int64_t end = std::min(begin + std::max<int64_t>(images, 1), count);
      return t.size(dim) == 1 ? t : t.slice(dim, begin, end);
    };
    pieces.push_back(solve(own));
  }
  return at::cat(pieces);
}

}  // namespace

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

std::vector<Tensor> DenseResolvents::filters(const Tensor& x,
                                             const std::vector<EigenvalueMap>& functions) const {
  const PartialFractions fractions = basis_.fit(functions);
  if (fractions.error > Krylov::kAcceptableFit) return iterations_.filters(x, functions);
  std::vector<Tensor> all = sums(x.to(at::kDouble), fractions.weights, fractions.first);
  for (Tensor& values : all) values = values.to(x.scalar_type());
  return all;
}

std::vector<Tensor> DenseResolvents::sums(const Tensor& x,
                                          const Tensor& weights,
                                          int64_t first) const {
  constexpr int64_t kImages = 64;  // at a time, as their terms take many times their memory
  if (x.size(0) > kImages) {
    const Tensor all = in_pieces(x.size(0), kImages, [&](const auto& own) {
      return at::stack(sums(own(x), own(weights, 1), first), 1);
    });
    return all.unbind(1);
  }
  const Tensor s = at::tensor(basis_.shifts(), at::kDouble).slice(0, first).to(x.device());
  const auto solve = [&](const Tensor& v) {
    const Tensor matrices = inverses(first, v.device());
    Shape shape = v.sizes().vec();
    shape[0] = matrices.size(0);
    return at::matmul(v.flatten(1, 2), matrices).reshape(shape);
  };
  const Tensor all = terms(x, s.reshape({-1, 1, 1, 1, 1}), solve);
  const Tensor w = weights.to(x.device());
  const Tensor weighted = weighted_sums(all, w.slice(2, 1));
  std::vector<Tensor> answers;
  for (int64_t i = 0; i < w.size(0); ++i) answers.push_back(total(x, w[i], weighted[i]));
  return answers;
}

Tensor DenseResolvents::total(const Tensor& x, const Tensor& weights, const Tensor& sum) const {
  const Shape frame{x.size(2), x.size(3)};
  return weights.slice(1, 0, 1).reshape({-1, 1, 1, 1}) * x +
         at::fft_irfft2(sum, at::IntArrayRef(frame));
}

Tensor DenseResolvents::ridge(const Tensor& r, const Tensor& lambda) const {
  constexpr double kRounding = 1e-11, kLargestFactor = 0.02, kError = 1e-7;
  const Tensor values = lambda.to(at::kCPU, at::kDouble).flatten();
  if (values.min().item<double>() < kRounding) return {};
  const Tensor wide = r.to(at::kDouble);
  const bool is_one = values.numel() == 1;
  if (is_one && r.device().is_cpu()) return exact_ridge(wide, values).to(r.scalar_type());

  const Tensor l = values.reshape({-1, 1, 1, 1});
  const PartialFractions g =
      basis_.fit({[&](const Tensor& e) { return 1 / (e + l); }}, /*tolerance=*/2e-4, /*floor=*/0);
  const double factor = 2 * g.error;  // also between the points of the fit
  if (factor > kLargestFactor) {
    const int64_t images = 4 * kLargestDense * kLargestDense / (rows() * rows());
    return in_pieces(r.size(0), images, [&](const auto& own) {
      return exact_ridge(own(wide), own(values)).to(r.scalar_type());
    });
  }
  // Solves (A'A + lambda) x = b by steps x + g (b - (A'A + lambda) x), which multiply the error by
  // at most that of g (A'A + lambda) in any direction, the factor.
  const Tensor shift = l.to(r.device()), b = A_.adjoint(wide);
  const auto approximate = [&](const Tensor& v) { return sums(v, g.weights, g.first)[0]; };
  const double enough = r.scalar_type() == at::kDouble ? kError : 4 * kError;
  Tensor x = approximate(b);
  for (double error = factor; error > enough; error *= factor)
    x = x + approximate(b - normal(x) - shift * x);
  return x.to(r.scalar_type());
}

Tensor DenseResolvents::inverses(int64_t first, at::Device device) const {
  const std::lock_guard lock(mutex_);
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
  return inverses_.slice(0, first);
}

}  // namespace eps
