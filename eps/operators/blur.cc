// Circular convolution with transfer function h: multiplication by h in the Fourier domain.
#include "eps/operators/blur.h"

#include "eps/io/images/image.h"
#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"

namespace eps {
namespace {

// Returns the kernel on an H x W canvas, its origin (index size/2) at pixel (0, 0).
Tensor on_canvas(const Tensor& kernel, int64_t height, int64_t width) {
  const int64_t kh = kernel.size(1), kw = kernel.size(2);
  Tensor canvas = at::zeros({kernel.size(0), 1, height, width}, kernel.options());
  canvas.slice(2, 0, kh).slice(3, 0, kw).copy_(kernel.unsqueeze(1));
  return at::roll(canvas, {-(kh / 2), -(kw / 2)}, {2, 3});
}

Tensor squared_magnitude(const Tensor& h) { return at::real(h).square() + at::imag(h).square(); }

// Returns the transfer function of kernels. Its zeros come out of the FFT as rounding errors. They
// must be exact zeros: they are outside the range of A, and their inverse at lambda = 0 is 0, not
// 1e16.
Tensor transfer_of(const Tensor& kernel, int64_t height, int64_t width) {
  check_kernel(kernel, height, width);
  const Tensor h = at::fft_rfft2(on_canvas(kernel, height, width));
  const Tensor magnitude = h.abs();
  return h.masked_fill(magnitude <= 1e-14 * magnitude.amax({-2, -1}, true), 0);
}

}  // namespace

void check_kernel_fits(int64_t size, int64_t height, int64_t width) {
  check(size <= height && size <= width,
        "blur: a kernel of ",
        size,
        " x ",
        size,
        " does not fit an image of ",
        size_words(width, height));
}

void check_kernel(const Tensor& kernel, int64_t height, int64_t width) {
  check(kernel.dim() == 3, "blur: a kernel is N x kh x kw, got ", to_string(kernel.sizes()));
  check(kernel.size(1) <= height && kernel.size(2) <= width,
        "blur: a kernel of ",
        kernel.size(2),
        " x ",
        kernel.size(1),
        " does not fit an image of ",
        size_words(width, height));
}

CircularBlur::CircularBlur(const Tensor& kernel, int64_t height, int64_t width)
    : kernel_(kernel.to(at::kDouble)),
      height_(height),
      width_(width),
      transfer_(transfer_of(kernel_, height, width)),
      power_(squared_magnitude(transfer_.exact())),
      padded_(power_.exact() + (power_.exact() == 0)) {
  const Tensor& h = transfer_.exact();
  if (h.device().is_cpu() && kernels::CircularProximal::supports(height, width)) {
    // The half that rfft2 leaves out mirrors the one it gives: h(-k) = conj(h(k)).
    const Tensor mirrored = at::roll(h.slice(3, 1, width / 2).flip({2, 3}), 1, 2).conj();
    fast_proximal_.emplace(at::cat({h, mirrored}, 3));
  }
}

Tensor CircularBlur::transfer(const Tensor& like) const {
  check_image_size("blur", like, height_, width_);
  return transfer_.as(like.device(),
                      like.scalar_type() == at::kDouble ? at::kComplexDouble : at::kComplexFloat);
}

Tensor CircularBlur::power(const Tensor& like) const {
  check_image_size("blur", like, height_, width_);
  return power_.like(like);
}

Tensor CircularBlur::apply(const Tensor& x) const { return filter_spectrum(x, transfer(x)); }

Tensor CircularBlur::adjoint(const Tensor& y) const {
  return filter_spectrum(y, transfer(y).conj());
}

Tensor CircularBlur::ridge(const Tensor& r, const Tensor& lambda) const {
  return filter_spectrum(r, transfer(r).conj() / (padded_.like(r) + per_sample(lambda, r)));
}

Tensor CircularBlur::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  const Tensor h = transfer(z);
  if (fast_proximal_ && z.sizes() == y.sizes() && kernels::plain(z, y, lambda, batch())) {
    return (*fast_proximal_)(z, y, kernels::values(lambda));
  }
  // z_hat + conj(h) (y_hat - h z_hat) / (|h|^2 + lambda): two transforms forward, one back.
  const Tensor residual = at::addcmul(at::fft_rfft2(y), at::fft_rfft2(z), h, -1);
  const Tensor correction = residual * h.conj() / (padded_.like(z) + per_sample(lambda, z));
  return z + at::fft_irfft2(correction, at::IntArrayRef({height_, width_}));
}

Tensor CircularBlur::into_basis(const Tensor& x) const { return at::fft_rfft2(x); }
Tensor CircularBlur::from_basis(const Tensor& coordinates) const {
  return at::fft_irfft2(coordinates, at::IntArrayRef({height_, width_}));
}

Tensor CircularBlur::diagonal(const Tensor& like, const EigenvalueMap& f) const {
  return spectral_mean(f(power(like)), width_);
}

Operator circular_blur(const Tensor& kernel, int64_t height, int64_t width) {
  return std::make_shared<CircularBlur>(kernel, height, width);
}

}  // namespace eps
