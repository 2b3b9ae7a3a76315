// Particle methods share clouds of particles, their weights, and resampling.
//
// M particles for each of N images are one batch, (M N, C, H, W): all images in order, M times.
// Numbers of particles, such as log weights, are (M, N). Images do not see each other: each draws
// from its own stream and resamples by itself.
#pragma once

#include "eps/methods/descent.h"

namespace eps {

// Throws unless there is noise on every measurement: without it all weights but one are 0.
void check_noisy(const Oracle& oracle, const char* method);

// Applies f, a function of (N, ...) tensors, to batches of (M N, ...) particle by particle, since
// an operator may hold one map per image. Returns one batch.
template <class Function, class... Batches>
Tensor per_particle(int64_t images,
                    const Function& f,
                    const Tensor& first,
                    const Batches&... more) {
  std::vector<Tensor> all;
  for (int64_t begin = 0; begin < first.size(0); begin += images)
    all.push_back(f(first.narrow(0, begin, images), more.narrow(0, begin, images)...));
  return at::cat(all);
}

// Draws N(0, I) for M particles of each image of `like`, (M N, ...).
Tensor particle_noise(int64_t particles, const Tensor& like, Rng& rng);
// Draws the same with `noise` for the first particle of each image.
Tensor initial_particles(int64_t particles, const Tensor& noise, Rng& rng);

// Returns <a, b> of each particle, (M, N).
Tensor particle_dot(const Tensor& a, const Tensor& b, int64_t images);

// An `Evidence` belongs to residuals r of M particles under the law N(0, noise I + spread AA'),
// where noise is a variance, one or one per image, and spread one for all images.
struct Evidence {
  Tensor log_density;  // of r, (M, N), without the constant that an image's particles share
  Tensor pull;         // A'(noise I + spread AA')^{-1} r, (M N, C, H, W)
};
Evidence evidence(const LinearOperator& A,
                  const Tensor& r,
                  int64_t images,
                  const Tensor& noise,
                  const Tensor& spread);
// Returns the log_density of an Evidence without spread, from |r|^2 alone.
Tensor log_likelihood(const Tensor& r, int64_t images, const Tensor& noise);

// Systematic resampling (Kitagawa 1996) replaces the particles of the images whose effective number
// of particles, 1/sum w^2, has fallen below M/2.
struct Resampled {
  Tensor rows;         // (M N): particle i is now a copy of particle rows[i]
  Tensor log_weights;  // (M, N): 0 where an image was resampled, as before elsewhere
};
Resampled resample(const Tensor& log_weights, Rng& rng);

// Draws one particle of each image by its weight, (N, C, H, W).
Tensor draw_particle(const Tensor& particles, const Tensor& log_weights, Rng& rng);

}  // namespace eps
