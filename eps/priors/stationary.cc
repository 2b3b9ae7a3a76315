// A power spectrum gives the stationary Gaussian prior its filters.
#include "eps/priors/stationary.h"

#include "eps/math/conjugate_gradients.h"
#include "eps/math/spectrum.h"

namespace eps {

Stationary::Stationary(Tensor mean, Tensor spectrum)
    : mean_(mean.to(at::kDouble).unsqueeze(0)), spectrum_(spectrum.to(at::kDouble).unsqueeze(0)) {
  check(mean.dim() == 3 && spectrum.dim() == 3 && spectrum.size(1) == mean.size(1) &&
            spectrum.size(2) == mean.size(2) / 2 + 1,
        "Stationary: wanted a mean C x H x W and a spectrum C x H x W/2+1, got ",
        to_string(mean.sizes()),
        " and ",
        to_string(spectrum.sizes()));
  check(spectrum.min().item<double>() > 0,
        "Stationary: the spectrum must be > 0, its least value is ",
        spectrum.min().item<double>());
}

Tensor Stationary::mean(const Query& query) const {
  const Tensor m = mean_.to(query.x.options()), p = spectrum_.to(query.x.options());
  const Tensor r = query.x - m;
  const Tensor sigma_squared = per_sample(query.sigma.square(), r);
  if (!query.A) return m + filter_spectrum(r, p / (p + sigma_squared));
  const Spectral* spectral = query.A->spectral();
  if (spectral && spectral->basis() == Basis::fourier) {
    const Tensor sigma_y_squared = per_sample(query.sigma_y.square(), r);
    // p / (p + v), v = (1/sigma^2 + e/sigma_y^2)^{-1}, multiplied through by sigma_y^2 + sigma^2 e.
    return m + spectral->filter(r, [&](const Tensor& e) {
      const Tensor scaled = p * (sigma_y_squared + sigma_squared * e);
      return scaled / (scaled + sigma_squared * sigma_y_squared);
    });
  }
  // w = (C + Sigma)^{-1} r, then m + C w.
  const auto total = [&](const Tensor& v) {
    return filter_spectrum(v, spectrum_.to(v.device())) +
           pivot_covariance(*query.A, query.sigma_y, query.sigma, v);
  };
  return m + filter_spectrum(conjugate_gradients(total, r, {.tolerance = 1e-9}), p);
}

Stationary::Posterior Stationary::posterior(const Problem& problem) const {
  const Spectral* spectral = problem.A->spectral();
  check(spectral && spectral->basis() == Basis::fourier,
        "Stationary::posterior: the operator must be diagonal in the Fourier basis");
  const Tensor y = problem.y.to(at::kDouble);
  const Tensor p = spectrum_.to(y.device()), m = mean_.to(y.device());
  const Tensor sigma_y_squared = problem.sigma_y.square();
  // Posterior covariance (C^{-1} + A'A/sigma_y^2)^{-1}, applied to A'(y - A m)/sigma_y^2.
  Tensor variance;
  const Tensor back =
      problem.A->adjoint(y - problem.A->apply(m.expand({y.size(0), y.size(1), -1, -1})));
  const Tensor shift = spectral->filter(back, [&](const Tensor& e) {
    variance = p * sigma_y_squared / (sigma_y_squared + e * p);
    return variance / sigma_y_squared;
  });
  return {m + shift, variance};
}

Tensor Stationary::sample(Rng& rng, const Shape& shape) const {
  return mean_ + filter_spectrum(rng.normal(shape), spectrum_.sqrt());
}

Tensor natural_spectrum(int64_t height, int64_t width) {
  const Tensor fy = at::fft_fftfreq(height, 1.0, at::kDouble).reshape({1, height, 1});
  const Tensor fx = at::fft_rfftfreq(width, 1.0, at::kDouble).reshape({1, 1, width / 2 + 1});
  const double corner = 0.05;  // cycles per pixel
  const Tensor power = (1 + (fy.square() + fx.square()) / (corner * corner)).pow(-1.5);
  // The variance of a pixel is the mean of the full spectrum: the impulse response of C at 0.
  const Tensor impulse = unit_impulse(height, width, at::kDouble);
  const double variance = filter_spectrum(impulse, power.unsqueeze(0))[0][0][0][0].item<double>();
  return 0.25 / variance * power;
}

}  // namespace eps
