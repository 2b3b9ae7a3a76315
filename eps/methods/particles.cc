// Particles are weighted and resampled here, image by image.
#include "eps/methods/particles.h"

namespace eps {
namespace {

// Reorders (N, M, ...), images first, to (M N, ...), particles first.
Tensor particles_first(const Tensor& numbers) {
  return numbers.transpose(0, 1).flatten(0, 1).contiguous();
}

// Returns a per-sample scalar in a shape that broadcasts over (M, N).
Tensor per_column(const Tensor& value) { return value.dim() == 0 ? value : value.reshape({1, -1}); }

// Returns the particle of each image, (P, N), at which the image's cumulative weight first exceeds
// each of P points in [0, 1), (N, P).
Tensor at_cumulative_weight(const Tensor& log_weights, const Tensor& points) {
  const Tensor cumulative = at::softmax(log_weights, 0).cumsum(0).transpose(0, 1).contiguous();
  // Rounding may leave the last cumulative weight below 1.
  return at::searchsorted(cumulative, points.contiguous(), /*out_int32=*/false, /*right=*/true)
      .clamp_max(log_weights.size(0) - 1)
      .transpose(0, 1);
}

// Returns the rows of a batch of (M N) for particle numbers (P, N).
Tensor rows_of(const Tensor& particle) {
  const int64_t images = particle.size(1);
  return (particle * images + at::arange(images, particle.options())).flatten();
}

}  // namespace

void check_noisy(const Oracle& oracle, const char* method) {
  check((oracle.sigma_y() > 0).all().item<bool>(),
        method,
        ": needs sigma_y > 0: the noise on y weights the particles");
}

Tensor particle_noise(int64_t particles, const Tensor& like, Rng& rng) {
  Shape shape = like.sizes().vec();
  shape.insert(shape.begin() + 1, particles);
  return particles_first(rng.normal(shape, like.options()));
}

Tensor initial_particles(int64_t particles, const Tensor& noise, Rng& rng) {
  return at::cat({noise, particle_noise(particles - 1, noise, rng)});
}

Tensor particle_dot(const Tensor& a, const Tensor& b, int64_t images) {
  return (a * b).flatten(1).sum(1).reshape({-1, images});
}

// With lambda = noise/spread, (noise I + spread AA')^{-1} = (I - AA'(AA' + lambda I)^{-1})/noise.
Evidence evidence(const LinearOperator& A,
                  const Tensor& r,
                  int64_t images,
                  const Tensor& noise,
                  const Tensor& spread) {
  const Tensor lambda = noise / spread;
  const Tensor solved = per_particle(
      images, [&](const Tensor& one) { return A.ridge(one, lambda); }, r);
  const Tensor explained = per_particle(
      images, [&](const Tensor& one) { return A.apply(one); }, solved);
  return {-0.5 * particle_dot(r, r - explained, images) / per_column(noise), solved / spread};
}

Tensor log_likelihood(const Tensor& r, int64_t images, const Tensor& noise) {
  return -0.5 * particle_dot(r, r, images) / per_column(noise);
}

Resampled resample(const Tensor& log_weights, Rng& rng) {
  const int64_t particles = log_weights.size(0), images = log_weights.size(1);
  const auto options = log_weights.options();
  // Every image draws an offset, even an unused one, so that later draws do not depend on weights.
  const Tensor offset = rng.uniform({images, 1}, options);
  const Tensor points = (offset + at::arange(particles, options)) / particles;
  const Tensor drawn = at_cumulative_weight(log_weights, points);
  const Tensor effective = 1 / at::softmax(log_weights, 0).square().sum(0, true);  // (1, N)
  const Tensor poor = effective < 0.5 * static_cast<double>(particles);
  const Tensor own = at::arange(particles, drawn.options()).unsqueeze(1);
  return {rows_of(at::where(poor, drawn, own)),
          at::where(poor, at::zeros_like(log_weights), log_weights)};
}

Tensor draw_particle(const Tensor& particles, const Tensor& log_weights, Rng& rng) {
  const Tensor point = rng.uniform({log_weights.size(1), 1}, log_weights.options());
  return particles.index_select(0, rows_of(at_cumulative_weight(log_weights, point)));
}

}  // namespace eps
