// A circular blur of which only some pixels were kept.
#include "eps/operators/masked_blur.h"

#include <algorithm>

#include "eps/math/partial_fractions.h"
#include "eps/math/spectrum.h"
#include "eps/operators/krylov.h"

namespace eps {
namespace {

constexpr int64_t kLargestDense = 2560;  // 52 MB, and a second to factorise

Tensor squared_magnitude(const Tensor& h) { return at::real(h).square() + at::imag(h).square(); }

bool fewer_left_out(const Tensor& mask) {
  return mask.sum().item<double>() > 0.5 * static_cast<double>(mask.numel());
}

Tensor places_where(const Tensor& mask) { return mask.flatten().nonzero().flatten(); }

Tensor differences(const Tensor& places, int64_t height, int64_t width) {
  const Tensor row = at::floor_divide(places, width), column = at::remainder(places, width);
  const auto apart = [](const Tensor& place, int64_t n) {
    return at::remainder(place.unsqueeze(1) - place, n);
  };
  return apart(row, height) * width + apart(column, width);
}

}  // namespace

// The `Resolvents` hold the inverses of the dense matrices at fixed shifts.
class MaskedBlur::Resolvents final : public Probed {
 public:
  explicit Resolvents(const MaskedBlur& A)
      : Probed(A),
        A_(A),
        iterations_(A),
        largest_(squared_magnitude(A.blur_.transfer(A.mask_)).max().item<double>()),
        shifts_(resolvent_shifts(largest_, kShifts, kRatio)) {
    inverses_.resize(shifts_.size());
  }

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const PartialFractions fractions = partial_fractions(f, shifts_, largest_, x.options());
    if (fractions.error > Krylov::kAcceptableFit) return iterations_.filter(x, f);
    const Tensor weights = fractions.weights.to(x.device());
    const auto weight = [&](const Tensor& of) {  // (shifts, N or 1, 1, 1, 1)
      return of.t().reshape({-1, of.size(0), 1, 1, 1});
    };
    const Tensor first = weights.slice(1, 0, 1).reshape({-1, 1, 1, 1});
    const Tensor others = weights.slice(1, 1);
    const Tensor terms = terms_of(x, static_cast<int64_t>(fractions.first));
    const Tensor sum = (weight(others) * terms).sum(0);
    const Tensor wide = x.to(at::kDouble);
    if (A_.left_out_) {
      const Shape frame{x.size(2), x.size(3)};
      return (first * wide + at::fft_irfft2(sum, at::IntArrayRef(frame))).to(x.scalar_type());
    }
    const Tensor all = weights.sum(1).reshape({-1, 1, 1, 1});
    return (all * wide - A_.blur_.adjoint(sum)).to(x.scalar_type());
  }

  // A'A has the diagonal sum_j m_j H_ji^2: the mask, correlated with the squares of the kernel.
  Tensor normal_diagonal(const Tensor& like) const override {
    const CircularBlur squares(A_.blur_.kernel().square(), like.size(2), like.size(3));
    return squares.adjoint(A_.mask_).clamp_min(0).to(like.options());
  }

 private:
  static constexpr int64_t kShifts = 23;
  static constexpr double kRatio = 2.5;

  // Returns s_j (A'A + s_j)^{-1} x in the Fourier domain, or the images whose A' it lacks from x,
  // of the shifts from `first` on: (shifts, N, C, H, .).
  Tensor terms_of(const Tensor& x, int64_t first) const {
    const std::lock_guard lock(mutex_);
    const auto all = static_cast<int64_t>(shifts_.size());
    if (!x_.is_same(x)) {
      x_ = x;
      terms_ = Tensor();
    }
    const int64_t known = terms_.defined() ? all - terms_.size(0) : all;
    if (first < known) {
      const Tensor more = compute_terms(x.to(at::kDouble), first, known);
      terms_ = terms_.defined() ? at::cat({more, terms_}) : more;
    }
    return terms_.slice(0, terms_.size(0) - (all - first));
  }

  Tensor compute_terms(const Tensor& x, int64_t begin, int64_t end) const {
    const Tensor h = A_.blur_.transfer(x);
    const Tensor s = at::tensor(shifts_, at::kDouble)
                         .slice(0, begin, end)
                         .to(x.device())
                         .reshape({-1, 1, 1, 1, 1});
    const auto solve = [&](const Tensor& v) {  // inverse_j v_j, v: (shifts or 1, N, C, k)
      std::vector<Tensor> all;
      for (int64_t j = begin; j < end; ++j)
        all.push_back(at::matmul(v[v.size(0) == 1 ? 0 : j - begin], inverse(j).to(v.device())));
      return at::stack(all);
    };
    if (!A_.left_out_) return A_.scatter(solve(A_.gather(A_.apply(x)).unsqueeze(0)));
    const Tensor gain = s / (squared_magnitude(h) + s);
    const Tensor direct = gain * at::fft_rfft2(x);
    const Shape frame{x.size(2), x.size(3)};
    const Tensor border = A_.gather(at::fft_irfft2(h * direct, at::IntArrayRef(frame)));
    const Tensor correction = at::fft_rfft2(A_.scatter(solve(border)));
    return direct + gain / s * h.conj() * correction;
  }

  // Returns the dense inverse of a shift, which is computed when it is first wanted.
  const Tensor& inverse(int64_t j) const {
    Tensor& known = inverses_[static_cast<size_t>(j)];
    if (!known.defined())
      known = at::cholesky_inverse(
          at::linalg_cholesky(A_.dense(at::tensor(shifts_, at::kDouble).slice(0, j, j + 1))[0]));
    return known;
  }

  const MaskedBlur& A_;
  const Krylov iterations_;  // for functions that the fixed shifts do not resolve
  const double largest_;
  const std::vector<double> shifts_;
  mutable std::vector<Tensor> inverses_;  // (k, k), float64, symmetric
  mutable std::mutex mutex_;
  mutable Tensor x_, terms_;  // c_in x and c_skip x of one evaluation share the terms
};

bool MaskedBlur::supports(const CircularBlur& blur, const Tensor& mask) {
  if (blur.kernel().size(0) != 1 || mask.size(0) != 1 || mask.size(1) != 1) return false;
  const auto kept = static_cast<int64_t>(mask.sum().item<double>());
  return std::min(kept, mask.numel() - kept) <= kLargestDense;
}

MaskedBlur::MaskedBlur(const CircularBlur& blur, const Tensor& mask)
    : blur_(blur.kernel(), blur.height(), blur.width()),
      mask_(mask.to(at::kDouble)),
      left_out_(fewer_left_out(mask_)),
      places_(places_where(left_out_ ? 1 - mask_ : mask_)),
      distance_(differences(places_, blur.height(), blur.width())) {
  check_image_size("masked blur", mask_, blur.height(), blur.width());
}

Tensor MaskedBlur::apply(const Tensor& x) const { return measured(blur_.apply(x)); }
Tensor MaskedBlur::adjoint(const Tensor& y) const { return blur_.adjoint(measured(y)); }

std::map<std::string, Tensor> MaskedBlur::parameters() const {
  return {{"kernel", blur_.kernel()}, {"mask", mask_.squeeze(1)}};
}

Tensor MaskedBlur::gather(const Tensor& image) const {
  return image.flatten(-2).index_select(-1, places_.to(image.device()));
}

Tensor MaskedBlur::scatter(const Tensor& values) const {
  Shape shape = values.sizes().vec();
  shape.back() = mask_.size(2) * mask_.size(3);
  const Tensor image = at::zeros(shape, values.options());
  shape.back() = mask_.size(2);
  shape.push_back(mask_.size(3));
  return image.index_copy(-1, places_.to(values.device()), values).reshape(shape);
}

Tensor MaskedBlur::dense(const Tensor& shifts) const {
  const Tensor power = squared_magnitude(blur_.transfer(mask_)).flatten(0, 1);  // (1, H, W/2 + 1)
  const Tensor s = shifts.to(power.device()).reshape({-1, 1, 1});
  const Tensor symbol = left_out_ ? s / (power + s) : power + s;
  const Shape frame{blur_.height(), blur_.width()};
  const Tensor rows = at::fft_irfft2(symbol, at::IntArrayRef(frame)).flatten(1);
  const Tensor places = distance_.flatten().to(rows.device());
  return rows.index_select(1, places).reshape({-1, distance_.size(0), distance_.size(1)});
}

Tensor MaskedBlur::exact_ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor factors = at::linalg_cholesky(dense(lambda)).to(r.device());
  const auto solve = [&](const Tensor& v) {  // (N, C, k)
    const Tensor columns = factors.size(0) == 1 ? v.flatten(0, 1).unsqueeze(0) : v;
    return at::cholesky_solve(columns.transpose(1, 2), factors).transpose(1, 2).reshape(v.sizes());
  };
  if (!left_out_) return blur_.adjoint(scatter(solve(gather(r))));
  const Tensor h = blur_.transfer(r);
  const Tensor gain = 1 / (squared_magnitude(h) + lambda.to(r.device()).reshape({-1, 1, 1, 1}));
  const Tensor direct = gain * at::fft_rfft2(adjoint(r));
  const Shape frame{r.size(2), r.size(3)};
  const Tensor border = gather(at::fft_irfft2(h * direct, at::IntArrayRef(frame)));
  const Tensor correction = gain * h.conj() * at::fft_rfft2(scatter(solve(border)));
  return at::fft_irfft2(direct + correction, at::IntArrayRef(frame));
}

Tensor MaskedBlur::ridge(const Tensor& r, const Tensor& lambda) const {
  constexpr double kRounding = 1e-9;  // below it the dense matrices lose too many digits
  const Tensor values = lambda.to(at::kDouble).flatten();
  if (values.min().item<double>() < kRounding || places_.numel() == 0)
    return LinearOperator::ridge(r, lambda);
  const Tensor wide = r.to(at::kDouble);
  if (values.numel() == 1) return exact_ridge(wide, values).to(r.scalar_type());
  // Each lambda has a dense matrix of its own; so many of them are held at a time.
  const int64_t piece = std::max<int64_t>(kLargestDense * kLargestDense * 4 / distance_.numel(), 1);
  std::vector<Tensor> pieces;
  for (int64_t begin = 0; begin < r.size(0); begin += piece) {
    const int64_t end = std::min(begin + piece, r.size(0));
    pieces.push_back(exact_ridge(wide.slice(0, begin, end), values.slice(0, begin, end)));
  }
  return at::cat(pieces).to(r.scalar_type());
}

std::unique_ptr<const Spectral> MaskedBlur::make_functions() const {
  if (places_.numel() == 0) return LinearOperator::make_functions();
  return std::make_unique<Resolvents>(*this);
}

}  // namespace eps
