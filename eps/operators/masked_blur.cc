// A circular blur of which only some pixels were kept.
#include "eps/operators/masked_blur.h"

#include <algorithm>

namespace eps {
namespace {

bool fewer_left_out(const Tensor& mask) {
  return mask.sum().item<double>() > 0.5 * static_cast<double>(mask.numel());
}

}  // namespace

class MaskedBlur::Resolvents final : public DenseResolvents {
 public:
  explicit Resolvents(const MaskedBlur& A)
      : DenseResolvents(A, A.blur_.power(A.mask_).max().item<double>()), A_(A) {}

  // A'A has the diagonal sum_j m_j H_ji^2: the mask, correlated with the squares of the kernel.
  Tensor normal_diagonal(const Tensor& like) const override {
    const CircularBlur squares(A_.blur_.kernel().square(), like.size(2), like.size(3));
    return squares.adjoint(A_.mask_).clamp_min(0).to(like.options());
  }

 private:
  int64_t rows() const override { return A_.places_.numel(); }
  Tensor exact_ridge(const Tensor& r, const Tensor& lambda) const override {
    return A_.exact_ridge(r, lambda);
  }

  Tensor make_inverse(const Tensor& shift) const override {
    return at::cholesky_inverse(at::linalg_cholesky(A_.dense(shift)[0]));
  }

  // The terms are s (A'A + s)^{-1} x in the Fourier domain, or the images whose A' it lacks from x.
  Tensor terms(const Tensor& x, const Tensor& s, const Solve& solve) const override {
    const int64_t height = x.size(2), width = x.size(3);
    const Tensor& places = A_.places_;
    if (!A_.left_out_)
      return scatter(solve(gather(A_.apply(x), places).unsqueeze(0)), places, height, width);
    const Tensor h = A_.blur_.transfer(x), gain = s / (A_.blur_.power(x) + s);
    const Tensor direct = gain * at::fft_rfft2(x);
    const Shape frame{height, width};
    const Tensor border = gather(at::fft_irfft2(h * direct, at::IntArrayRef(frame)), places);
    const Tensor correction = at::fft_rfft2(scatter(solve(border), places, height, width));
    return direct + gain / s * h.conj() * correction;
  }

  Tensor total(const Tensor& x, const Tensor& weights, const Tensor& sum) const override {
    if (A_.left_out_) return DenseResolvents::total(x, weights, sum);
    return weights.sum(1).reshape({-1, 1, 1, 1}) * x - A_.blur_.adjoint(sum);
  }

  const MaskedBlur& A_;
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
      part_(places_, places_, blur.height(), blur.width()) {
  check_image_size("masked blur", mask_, blur.height(), blur.width());
}

Tensor MaskedBlur::apply(const Tensor& x) const { return measured(blur_.apply(x)); }
Tensor MaskedBlur::adjoint(const Tensor& y) const { return blur_.adjoint(measured(y)); }

std::map<std::string, Tensor> MaskedBlur::parameters() const {
  return {{"kernel", blur_.kernel()}, {"mask", mask_.squeeze(1)}};
}

Tensor MaskedBlur::dense(const Tensor& shifts) const {
  const Tensor power = blur_.power(mask_).flatten(0, 1);  // (1, H, W/2 + 1)
  const Tensor s = shifts.to(power.device()).reshape({-1, 1, 1});
  return part_.of(left_out_ ? s / (power + s) : power + s);
}

Tensor MaskedBlur::exact_ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor factors = at::linalg_cholesky(dense(lambda)).to(r.device());
  const auto solve = [&](const Tensor& v) {  // (N, C, k)
    const Tensor columns = factors.size(0) == 1 ? v.flatten(0, 1).unsqueeze(0) : v;
    return at::cholesky_solve(columns.transpose(1, 2), factors).transpose(1, 2).reshape(v.sizes());
  };
  const int64_t height = r.size(2), width = r.size(3);
  if (!left_out_) return blur_.adjoint(scatter(solve(gather(r, places_)), places_, height, width));
  const Tensor h = blur_.transfer(r);
  const Tensor gain = 1 / (blur_.power(r) + lambda.to(r.device()).reshape({-1, 1, 1, 1}));
  const Tensor direct = gain * at::fft_rfft2(adjoint(r));
  const Shape frame{height, width};
  const Tensor border = gather(at::fft_irfft2(h * direct, at::IntArrayRef(frame)), places_);
  const Tensor correction = at::fft_rfft2(scatter(solve(border), places_, height, width));
  return at::fft_irfft2(direct + gain * h.conj() * correction, at::IntArrayRef(frame));
}

Tensor MaskedBlur::ridge(const Tensor& r, const Tensor& lambda) const {
  if (places_.numel() > 0) {
    const Tensor x = static_cast<const Resolvents&>(functions()).ridge(r, lambda);
    if (x.defined()) return x;
  }
  return LinearOperator::ridge(r, lambda);
}

std::unique_ptr<const Spectral> MaskedBlur::make_functions() const {
  if (places_.numel() == 0) return LinearOperator::make_functions();
  return std::make_unique<Resolvents>(*this);
}

}  // namespace eps
