// Subsampled Fourier measurements of a real image: single-coil Cartesian MRI.
//
// A x = m F x with F unitary; complex numbers are pairs of reals. For real x, A'A = F^H e F with
// e(k) = (m(k) + m(-k)) / 2: a frequency and its mirror image measure the same thing.
#include "eps/math/spectrum.h"
#include "eps/operators/converted.h"
#include "eps/operators/factories.h"
#include "eps/operators/fast_basis.h"
#include "eps/operators/k_space.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

constexpr const char* kOrtho = "ortho";

class SubsampledFourier final : public LinearOperator, public FastBasis {
 public:
  explicit SubsampledFourier(const Tensor& mask)
      : mask_(mask.to(at::kDouble)), eigenvalue_(eigenvalue_of(mask_)) {}

  Tensor apply(const Tensor& x) const override {
    check_image_size("fourier", x, mask_.size(1), mask_.size(2));
    return measured(at::view_as_real(at::fft_fft2(x, c10::nullopt, {-2, -1}, kOrtho)));
  }
  Tensor adjoint(const Tensor& y) const override {
    const Tensor k_space = at::view_as_complex(measured(y).contiguous());
    return at::real(at::fft_ifft2(k_space, c10::nullopt, {-2, -1}, kOrtho)).contiguous();
  }

  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return filter_spectrum(adjoint(r), ridge_gain(eigenvalue_.like(r), lambda));
  }

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::fourier; }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return spectral_mean(f(eigenvalue_.like(like)), mask_.size(2));
  }
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor&) const override {
    return [spectrum](const Tensor&) { return spectrum; };
  }

  Tensor measured(const Tensor& y) const override {
    return y * mask_.to(y.options()).unsqueeze(1).unsqueeze(-1);
  }
  std::map<std::string, Tensor> parameters() const override { return {{"mask", mask_}}; }
  int64_t batch() const override { return mask_.size(0); }

 private:
  static Tensor eigenvalue_of(const Tensor& mask) {
    const Tensor mirrored = at::roll(at::flip(mask, {1, 2}), {1, 1}, {1, 2});
    return ((mask + mirrored) / 2).slice(2, 0, mask.size(2) / 2 + 1).unsqueeze(1);
  }
  Tensor into_basis(const Tensor& x) const override { return at::fft_rfft2(x); }
  Tensor from_basis(const Tensor& coordinates) const override {
    return at::fft_irfft2(coordinates, at::IntArrayRef({mask_.size(1), mask_.size(2)}));
  }
  Tensor eigenvalues(const Tensor& like) const override { return eigenvalue_.like(like); }

  const Tensor mask_;           // (N or 1, H, W), zero frequency first
  const Converted eigenvalue_;  // (N or 1, 1, H, W/2 + 1)
};

Operator make_lines(const Spec& spec, const Tensor& like, Rng& rng) {
  return subsampled_fourier(draw_columns(spec, like, rng));
}

Operator make_masked_fourier(const Spec& spec, const Tensor& like, Rng&) {
  return subsampled_fourier(read_frequency_mask(spec, spec.text("file"), like));
}

Shape image_of_pairs(const Spec& spec, const Shape& y) {
  check(y.size() == 5 && y[4] == 2,
        spec.name(),
        ": a measurement is N x C x H x W x 2, got ",
        to_string(y));
  return {y[0], y[1], y[2], y[3]};
}

EPS_OPERATOR({.name = "fourier_lines",
              .summary = "single-coil MRI: random columns of k-space and all central ones",
              .example = "fourier_lines:acceleration=2,center=0.125",
              .fields = column_fields(),
              .strengths = {"acceleration"},
              .make = make_lines,
              .measurement_dims = 5,
              .image_shape = image_of_pairs,
              // At an acceleration of 1 all columns are kept.
              .is_random = [](const Spec& spec) { return spec.real("acceleration") > 1; }});

EPS_OPERATOR(
    {.name = "fourier_mask",
     .summary = "single-coil MRI with a k-space mask from a file",
     .example = "",
     .fields = {{"file",
                 "",
                 "PNG, JPEG, .npy or .safetensors; H x W, or N x H x W with one per image"},
                zero_field()},
     .make = make_masked_fourier,
     .measurement_dims = 5,
     .image_shape = image_of_pairs});

}  // namespace

Operator subsampled_fourier(const Tensor& mask) {
  check(mask.dim() == 3, "fourier: the mask must be N x H x W, got ", to_string(mask.sizes()));
  return std::make_shared<SubsampledFourier>(mask);
}

}  // namespace eps
