// The coefficients of EDM, VP, VE, iDDPM and discrete processes as numbers.
#include "eps/model/precondition.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

namespace eps {
namespace {

using Kind = Preconditioning::Kind;

VpRate vp_rate(const Preconditioning& p) { return {p.beta_d, p.beta_min}; }

double vp_sigma(const Preconditioning& p, double t) {
  return vp_rate(p).sigma(scalar(t)).item<double>();
}

// Returns the index of the table entry nearest to sigma, of sigma's shape.
Tensor nearest_level(const Tensor& levels, const Tensor& sigma) {
  return (sigma.reshape({-1, 1}) - levels).abs().argmin(1).reshape(sigma.sizes());
}

// Returns beta_0 to beta_{M-1} of a discrete process.
Tensor noise_rates(const Preconditioning& p) {
  if (p.beta_schedule == "table") return at::tensor(p.betas, at::kDouble);
  if (p.beta_schedule == "scaled_linear")
    return at::linspace(std::sqrt(p.beta_start), std::sqrt(p.beta_end), p.M, at::kDouble).square();
  if (p.beta_schedule == "linear") return at::linspace(p.beta_start, p.beta_end, p.M, at::kDouble);
  // Nichol and Dhariwal 2021: 1 - beta_t is the ratio of squared cosines, and at least 0.001.
  const Tensor time = at::arange(p.M + 1, at::kDouble) / static_cast<double>(p.M);
  const Tensor power = ((time + 0.008) / 1.008 * (std::numbers::pi / 2)).cos().square();
  return (1 - power.slice(0, 1) / power.slice(0, 0, p.M)).clamp_max(0.999);
}

// Returns the step at which a discrete process has this noise level, between steps a fraction.
Tensor discrete_step(const Preconditioning& p, const Tensor& sigma) {
  const Tensor levels = discrete_noise_levels(p).log().to(sigma.device());
  const Tensor level = sigma.to(at::kDouble).log().flatten();
  const Tensor above = at::searchsorted(levels, level).clamp(1, p.M - 1);
  const Tensor low = levels.take(above - 1), high = levels.take(above);
  const Tensor step = (above - 1) + (level - low) / (high - low);
  return step.clamp(0, static_cast<double>(p.M - 1)).to(at::kFloat).reshape(sigma.sizes());
}

PreconditioningCoefficients discrete_coefficients(const Preconditioning& p, const Tensor& given) {
  const Tensor sigma = given.to(at::kFloat);
  const Tensor c_in = at::rsqrt(sigma.square() + 1);
  const Tensor label = discrete_step(p, given) * p.label_scale;
  if (p.prediction == "sample") return {at::zeros_like(sigma), at::ones_like(sigma), c_in, label};
  if (p.prediction == "v") return {c_in.square(), -sigma * c_in, c_in, label};
  return {at::ones_like(sigma), -sigma, c_in, label};
}

}  // namespace

double Preconditioning::sigma_min() const {
  if (kind == Kind::vp) return vp_sigma(*this, epsilon_t);
  if (kind == Kind::iddpm) return iddpm_noise_levels(*this)[M - 1].item<double>();
  if (kind == Kind::discrete) return discrete_noise_levels(*this)[0].item<double>();
  return sigma_lower.value_or(kind == Kind::ve ? 0.02 : 0);
}

double Preconditioning::sigma_max() const {
  if (kind == Kind::vp) return vp_sigma(*this, 1);
  if (kind == Kind::iddpm) return iddpm_noise_levels(*this)[0].item<double>();
  if (kind == Kind::discrete) return discrete_noise_levels(*this)[M - 1].item<double>();
  return sigma_upper.value_or(kind == Kind::ve ? 100 : std::numeric_limits<double>::infinity());
}

Preconditioning Preconditioning::on(at::Device device) const {
  Preconditioning moved = *this;
  if (spectrum.defined()) moved.spectrum = spectrum.to(device);
  return moved;
}

bool Preconditioning::operator==(const Preconditioning& other) const {
  const auto fields = [](const Preconditioning& p) {
    return std::tie(p.kind,
                    p.sigma_data,
                    p.beta_d,
                    p.beta_min,
                    p.M,
                    p.epsilon_t,
                    p.C_1,
                    p.C_2,
                    p.prediction,
                    p.beta_schedule,
                    p.beta_start,
                    p.beta_end,
                    p.betas,
                    p.label_scale,
                    p.sigma_lower,
                    p.sigma_upper,
                    p.prior_variance,
                    p.prior_mean);
  };
  const bool same_spectrum = spectrum.defined() && other.spectrum.defined()
                                 ? spectrum.equal(other.spectrum)
                                 : spectrum.defined() == other.spectrum.defined();
  return fields(*this) == fields(other) && same_spectrum;
}

Tensor iddpm_noise_levels(const Preconditioning& p) {
  const auto alpha_bar = [&](int64_t j) {
    const double fraction = static_cast<double>(j) / static_cast<double>(p.M);
    const double sine = std::sin(std::numbers::pi / 2 * fraction / (p.C_2 + 1));
    return sine * sine;
  };
  std::vector<double> u(static_cast<size_t>(p.M) + 1, 0.0);
  for (int64_t j = p.M; j > 0; --j) {
    const double next = u[static_cast<size_t>(j)];
    const double ratio = std::max(alpha_bar(j - 1) / alpha_bar(j), p.C_1);
    u[static_cast<size_t>(j - 1)] = std::sqrt((next * next + 1) / ratio - 1);
  }
  return at::tensor(u, at::kDouble);
}

Tensor discrete_noise_levels(const Preconditioning& p) {
  const Tensor power = at::cumprod(1 - noise_rates(p), 0);  // of the image
  return ((1 - power) / power).sqrt();
}

Tensor rounded_sigma(const Preconditioning& p, const Tensor& sigma) {
  if (p.kind != Kind::iddpm) return sigma;
  const Tensor levels = iddpm_noise_levels(p).to(sigma.options());
  return levels.take(nearest_level(levels, sigma));
}

PreconditioningCoefficients coefficients(const Preconditioning& p, const Tensor& given) {
  const Tensor sigma = given.to(at::kFloat);
  const Tensor variance = sigma.square();
  const Tensor one = at::ones_like(sigma);
  switch (p.kind) {
    case Kind::vp: {
      const auto last = static_cast<double>(p.M - 1);
      return {one, -sigma, at::rsqrt(variance + 1), vp_rate(p).time(sigma) * last};
    }
    case Kind::ve:
      return {one, sigma, one, at::log(sigma * 0.5)};
    case Kind::iddpm: {
      const Tensor levels = iddpm_noise_levels(p).to(sigma.device(), at::kFloat);
      const Tensor step = (p.M - 1) - nearest_level(levels, sigma);
      return {one, -sigma, at::rsqrt(variance + 1), step.to(at::kFloat)};
    }
    case Kind::discrete:
      return discrete_coefficients(p, given);
    case Kind::denoiser:
      return {at::zeros_like(sigma), one, one, sigma};
    case Kind::edm:
    case Kind::anisotropic:
      break;
  }
  const double data_variance = p.sigma_data * p.sigma_data;
  const Tensor total = variance + data_variance;
  return {data_variance / total,
          sigma * p.sigma_data / at::sqrt(total),
          at::rsqrt(total),
          at::log(sigma) * 0.25};
}

Tensor power_spectrum(const Tensor& images) {
  check(images.dim() == 4 && images.size(0) > 0,
        "power_spectrum: wanted images N x C x H x W, got ",
        to_string(images.sizes()));
  const Tensor coefficients = at::fft_rfft2(images.to(at::kFloat), c10::nullopt, {-2, -1}, "ortho");
  return at::real(coefficients * coefficients.conj()).mean(at::IntArrayRef({0, 1}));
}

}  // namespace eps
