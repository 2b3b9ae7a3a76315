// Resampling and drawing of particles, image by image and number by number, as a reference for
// tests.
#pragma once

#include "tests/methods/method_testbed.h"

namespace eps {

// Returns x' M x over the last dimension of x.
inline Tensor quadratic(const Tensor& x, const Tensor& M) { return (at::matmul(x, M) * x).sum(-1); }
inline Tensor identity_like(const Tensor& M) { return at::eye(M.size(0), at::kDouble); }

// Draws particles (M, N, d) in the order in which a method draws them.
inline Tensor draw_particles(Rng& rng, int64_t images, int64_t particles, const Shape& one) {
  Shape shape{images, particles};
  shape.insert(shape.end(), one.begin(), one.end());
  return rng.normal(shape).reshape({images, particles, -1}).transpose(0, 1);
}

// A `Kept` holds the result of systematic resampling: particle i of image n is the former
// particle `particle[i][n]`.
struct Kept {
  std::vector<std::vector<int64_t>> particle;
  Tensor log_weights;  // (M, N)
  int resampled = 0;

  Tensor of(const Tensor& values) const {  // (M, N, ...)
    Tensor out = values.clone();
    for (int64_t i = 0; i < values.size(0); ++i)
      for (int64_t n = 0; n < values.size(1); ++n)
        out[i][n] = values[particle[static_cast<size_t>(i)][static_cast<size_t>(n)]][n];
    return out;
  }
};

// Returns the first particle at which the running sum of the weights exceeds the point.
inline int64_t particle_at(const std::vector<double>& weights, double point) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    if ((sum += weights[i]) > point) return static_cast<int64_t>(i);
  return static_cast<int64_t>(weights.size()) - 1;
}

inline std::vector<double> normalised(const Tensor& log_weights) {
  const Tensor w = (log_weights - log_weights.max()).exp().contiguous(), share = w / w.sum();
  return {share.data_ptr<double>(), share.data_ptr<double>() + share.numel()};
}

inline Kept resampled_by_hand(const Tensor& log_weights, Rng& rng) {
  const int64_t M = log_weights.size(0), N = log_weights.size(1);
  const Tensor u = rng.uniform({N, 1});
  Kept kept{std::vector<std::vector<int64_t>>(static_cast<size_t>(M)), log_weights.clone(), 0};
  for (int64_t n = 0; n < N; ++n) {
    const auto w = normalised(log_weights.select(1, n));
    double squares = 0;
    for (const double weight : w) squares += weight * weight;
    const bool poor = 1 / squares < static_cast<double>(M) / 2;
    kept.resampled += poor;
    for (int64_t i = 0; i < M; ++i) {
      const double point = (u[n].item<double>() + static_cast<double>(i)) / static_cast<double>(M);
      kept.particle[static_cast<size_t>(i)].push_back(poor ? particle_at(w, point) : i);
      if (poor) kept.log_weights[i][n] = 0;
    }
  }
  return kept;
}

// Draws one particle of each image by its weight, (N, d).
inline Tensor drawn_by_hand(const Tensor& x, const Tensor& log_weights, Rng& rng) {
  const Tensor u = rng.uniform({x.size(1), 1});
  std::vector<Tensor> all;
  for (int64_t n = 0; n < x.size(1); ++n)
    all.push_back(x[particle_at(normalised(log_weights.select(1, n)), u[n].item<double>())][n]);
  return at::stack(all);
}

}  // namespace eps
