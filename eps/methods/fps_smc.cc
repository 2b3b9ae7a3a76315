// FPS-SMC, filtering posterior sampling (Dou and Song 2024), moves particles along a noisy path of
// the measurement down the noise levels. The method needs no derivative of the denoiser.
//
// Where x = x0 + s n, the measurement of x would be y + s A n. So a path of measurements is drawn
// first, by the DDIM steps that the image itself takes,
//   y_K = y + s_K A n;  y' = y + q (y_s - y) + f A n,  with q = sqrt(s'^2 - f^2)/s,
// and M particles follow it by the prior's steps p(x'|x) = N(m, f^2 I), m = D + q (x - D).
// convention=ancestral has f = s' sqrt(1 - s'^2/s^2); renoise, the authors', has f = sqrt(c) s'.
//
// Without noise on y, x' must satisfy A x' = y', and the filter that weights each step by how well
// it meets this samples the posterior. With noise, y_s = A x + e, where e is one draw of sigma_y n,
// the same at all levels. The authors take it for a fresh one at each (noise=independent), so one
// measurement counts many times: too little spread, and a mean that moves away from the posterior's
// as levels are added. To divide each weight by N(y_s; A x, sigma_y^2 I), the level before, would
// leave only the last, but such weights have no finite variance where f is much larger than
// sigma_y.
//
// Departure (noise=diffused): e is an unknown like x0, with a diffusion of its own. The pair
// (x0, e0) is measured without noise, y = [A I] (x0, e0), which is the case above. The diffusion
// e = e0 + s (sigma_y/d) n, d = data_std, resolves image and noise at the same level, and
//   y_K = y + s_K (A n + sigma_y/d n2);  y' = y + q (y_s - y) + f (A n + sigma_y/d n2).
// A particle's e is y_s - A x. Its prior is Gaussian, so its denoiser and its step are known:
//   E[e0|e] = g e, g = 1/(1 + s^2/d^2);  p(e'|e) = N(k e, w I), k = q + (1 - q) g,
//   w = (sigma_y/d)^2 (f^2 + (1 - q)^2 s^2 g).
// So y' is to x' a measurement y' - k e with noise variance w. The proposal is p(x'|x)
// given that, drawn by perturbing and solving. Its weight, N(y' - k e; A m, w I + f^2 AA'), does
// not depend on x': particles are resampled before they move. noise=independent is the same with
// k = 0, w = sigma_y^2 and no n2.
//
// The last step, to 0, has f = 0: x0 = D, with the same weight. Resampling is systematic, image by
// image, where the effective number of particles is below M/2; the authors' is multinomial, always.
//
// The default has the authors' noise: on images, with few particles, the larger state of diffused
// leaves grain. Its steps are not theirs: ancestral ones, 100 levels and 16 particles in place of
// convention=renoise with c = 0.95, 1,000 levels and 5 particles. Exact as particles and levels
// grow, with noise=diffused and convention=ancestral: f^2 leaves out (1 - q)^2 Cov[x0|x], which
// vanishes faster than the steps. With renoise it does not.
#include <cmath>

#include "eps/methods/ddim.h"
#include "eps/methods/particles.h"

namespace eps {
namespace {

struct Settings {
  int64_t particles;
  bool diffused;
  DdimConvention convention;
  double eta, data_std;  // eta of ddim_noise(), which gives f; d
};

struct Step {
  Tensor kept, fresh;                 // q, f
  Tensor noise_kept, noise_variance;  // k, w; w is a per-sample scalar
};
Step step_between(const Settings& settings,
                  const Tensor& sigma_y,
                  const Tensor& sigma,
                  const Tensor& next) {
  const DdimNoise noise = ddim_noise(sigma, next, settings.eta, settings.convention);
  const Tensor kept = noise.kept / sigma, fresh = noise.fresh;
  if (!settings.diffused) return {kept, fresh, scalar(0), sigma_y.square()};
  const Tensor gain = 1 / (1 + (sigma / settings.data_std).square());
  const Tensor unit = fresh.square() + gain * ((1 - kept) * sigma).square();
  return {kept, fresh, kept + (1 - kept) * gain, (sigma_y / settings.data_std).square() * unit};
}

// A `Filter` moves the particles along one path of measurements.
class Filter {
 public:
  Filter(Oracle& oracle, const Settings& settings, const Tensor& noise, Rng& rng)
      : oracle_(oracle),
        A_(oracle.A()),
        settings_(settings),
        noise_(noise),
        rng_(rng),
        log_weights_(at::zeros({settings.particles, noise.size(0)}, noise.options())) {}

  // Returns particles at the highest level. All weigh the same: one law given y_K draws them.
  Tensor start(const Tensor& sigma) {
    y_s_ = oracle_.y() + sigma * path_noise();
    const Tensor drawn = sigma * initial_particles(settings_.particles, noise_, rng_);
    const Tensor target =
        at::cat(std::vector<Tensor>(static_cast<size_t>(settings_.particles), y_s_));
    const Tensor variance = oracle_.sigma_y().square();
    const Tensor grown = variance * (1 + (sigma / settings_.data_std).square());
    return given(drawn, sigma.square(), target, settings_.diffused ? grown : variance);
  }

  Tensor step(const Tensor& x, const Tensor& sigma, const Tensor& next) {
    const Step to = step_between(settings_, oracle_.sigma_y(), sigma, next);
    const Tensor variance = to.fresh.square(), D = oracle_.denoise(x, sigma);
    const Tensor m = D + to.kept * (x - D), y = oracle_.y();
    const Tensor y_next = y + to.kept * (y_s_ - y) + to.fresh * path_noise();
    const auto without_noise = [&](const Tensor& one) {  // y' - k e
      return y_next - to.noise_kept * (y_s_ - A_.apply(one));
    };
    const Tensor target = per_particle(images(), without_noise, x);
    const auto missed = [&](const Tensor& wanted, const Tensor& one) {
      return A_.format().measured(wanted - A_.apply(one));
    };
    const Tensor r = per_particle(images(), missed, target, m);
    const bool last = next.item<double>() == 0;
    const Tensor log_evidence =
        last ? log_likelihood(r, images(), to.noise_variance)
             : evidence(A_, r, images(), to.noise_variance, variance).log_density;
    const auto [rows, kept] = resample(log_weights_ + log_evidence, rng_);
    log_weights_ = kept;
    y_s_ = y_next;
    const Tensor mean = m.index_select(0, rows);
    if (last) return mean;
    const Tensor drawn = mean + to.fresh * particle_noise(settings_.particles, noise_, rng_);
    return given(drawn, variance, target.index_select(0, rows), to.noise_variance);
  }

  const Tensor& log_weights() const { return log_weights_; }

 private:
  int64_t images() const { return noise_.size(0); }

  // Returns A n + sigma_y/d n2.
  Tensor path_noise() {
    const Tensor n = A_.apply(rng_.normal(noise_.sizes().vec(), noise_.options()));
    if (!settings_.diffused) return n;
    const Tensor n2 = rng_.normal(n.sizes().vec(), n.options());
    return n + A_.format().measured(per_sample(oracle_.sigma_y() / settings_.data_std, n2) * n2);
  }

  // Moves a draw from N(m, variance I) so that it becomes a draw given a measurement as well, that
  // of `target` with noise.
  Tensor given(const Tensor& drawn,
               const Tensor& variance,
               const Tensor& target,
               const Tensor& noise_variance) {
    const Tensor like = target.narrow(0, 0, images()), lambda = noise_variance / variance;
    const auto solved = [&](const Tensor& z, const Tensor& y, const Tensor& n) {
      return A_.proximal(z, y + per_sample(noise_variance.sqrt(), n) * n, lambda);
    };
    const Tensor noise = particle_noise(settings_.particles, like, rng_);
    return per_particle(images(), solved, drawn, target, noise);
  }

  Oracle& oracle_;
  const LinearOperator& A_;
  const Settings settings_;
  const Tensor noise_;
  Rng& rng_;
  Tensor log_weights_;  // (M, N)
  Tensor y_s_;
};

Tensor fps_smc(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  check_noisy(oracle, "fps_smc");
  const DdimConvention convention = ddim_convention(options);
  const bool renoise = convention == DdimConvention::renoise;
  const Settings settings{.particles = options.integer("particles"),
                          .diffused = options.text("noise") == "diffused",
                          .convention = convention,
                          .eta = renoise ? std::sqrt(options.real("c")) : 1,
                          .data_std = options.real("data_std")};
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  Filter filter(oracle, settings, noise, rng);
  const Tensor x0 = descend(filter.start(levels[0]),
                            levels,
                            [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
                              return filter.step(x, sigma, next);
                            });
  return draw_particle(x0, filter.log_weights(), rng);
}

EPS_METHOD(
    {.name = "fps_smc",
     .summary = "particles that follow a noisy path of the measurement (Dou and Song 2024)",
     .fields = joined(
         level_fields(100),
         {Field::integer("particles", "16", at_least(1), "particles per sample"),
          Field::choice("noise",
                        "independent",
                        {"independent", "diffused"},
                        "independent: the authors' filter; diffused: exact in the limit"),
          Field::real(
              "data_std", "0.5", positive(), "standard deviation of a pixel; for noise=diffused"),
          Field::choice(
              "convention", "ancestral", {"ancestral", "renoise"}, "renoise: the authors' steps"),
          Field::real("c", "0.95", {1e-6, 1}, "fresh part of the variance of renoise")}),
     .sample = fps_smc});

}  // namespace
}  // namespace eps
