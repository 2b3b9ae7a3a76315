// Cholesky factors of dense covariances give the moments of Gaussian mixtures.
#include "eps/priors/mixture.h"

#include <cmath>
#include <numbers>

#include "eps/priors/dense.h"

namespace eps {
namespace {

// A `Gaussian` holds log N(r; 0, S) up to the constant d/2 log(2 pi), and S^{-1} r. S: (B, d, d),
// r: (N, d), B = 1 or N.
struct Gaussian {
  Tensor log_density, solution;
};
Gaussian gaussian(const Tensor& r, const Tensor& covariance) {
  const Tensor factor = at::linalg_cholesky(covariance);
  const Tensor log_determinant = 2 * factor.diagonal(0, 1, 2).log().sum(1);
  // One factor serves all rows at once; different ones go with their own row.
  const bool shared = covariance.size(0) == 1;
  const Tensor columns = shared ? r.transpose(0, 1).unsqueeze(0) : r.unsqueeze(2);
  const Tensor solved = at::cholesky_solve(columns, factor);
  const Tensor solution = shared ? solved[0].transpose(0, 1) : solved.squeeze(2);
  return {-0.5 * ((r * solution).sum(1) + log_determinant), solution};
}

}  // namespace

Mixture::Mixture(Tensor weights, Tensor means, Tensor covariances)
    : weights_(weights.to(at::kDouble) / weights.sum()),
      means_(means.to(at::kDouble).flatten(1)),
      covariances_(covariances.to(at::kDouble)),
      shape_(means.sizes().slice(1).vec()) {
  check(means.dim() == 4 && weights.dim() == 1 && weights.size(0) == means.size(0),
        "Mixture: wanted weights (K) and means K x C x H x W, got ",
        to_string(weights.sizes()),
        " and ",
        to_string(means.sizes()));
  const int64_t d = means_.size(1);
  check(covariances.sizes() == at::IntArrayRef({weights.size(0), d, d}),
        "Mixture: covariances must be ",
        weights.size(0),
        " x ",
        d,
        " x ",
        d,
        ", got ",
        to_string(covariances.sizes()));
}

Tensor Mixture::image(const Tensor& flat) const {
  return flat.reshape({flat.size(0), shape_[0], shape_[1], shape_[2]});
}

Tensor Mixture::mean(const Query& query) const {
  const Tensor x = query.x.to(at::kDouble).flatten(1);
  const int64_t d = x.size(1);
  check(d == means_.size(1),
        "Mixture: an image of ",
        to_string(query.x.sizes()),
        " for a prior on ",
        to_string(shape_));
  // Sigma_star as a dense matrix, (1 or N, d, d).
  Tensor noise;
  if (query.A) {
    const int64_t batch =
        std::max(query.A->format().batch(), std::max(query.sigma.numel(), query.sigma_y.numel()));
    const auto covariance = [&](const Tensor& v) {
      return pivot_covariance(*query.A, query.sigma_y, query.sigma, v);
    };
    noise = matrix_of(covariance, {1, shape_[0], shape_[1], shape_[2]}, batch, x.options());
  } else {
    noise = query.sigma.square().reshape({-1, 1, 1}) * at::eye(d, x.options()).unsqueeze(0);
  }
  std::vector<Tensor> log_weights, answers;
  for (int64_t k = 0; k < weights_.size(0); ++k) {
    const auto [log_density, solution] =
        gaussian(x - means_[k], covariances_[k].unsqueeze(0) + noise);
    log_weights.push_back(weights_[k].log() + log_density);
    answers.push_back(means_[k] + at::matmul(solution, covariances_[k]));
  }
  const Tensor responsibility = at::softmax(at::stack(log_weights, 1), 1).unsqueeze(2);
  return image((responsibility * at::stack(answers, 1)).sum(1)).to(query.x.scalar_type());
}

Mixture Mixture::posterior(const Problem& problem) const {
  const Shape one{1, shape_[0], shape_[1], shape_[2]};
  check(problem.y.size(0) == 1 && problem.A->format().batch() == 1,
        "Mixture::posterior: one measurement is wanted, got ",
        problem.y.size(0));
  const Tensor A =
      matrix_of([&](const Tensor& v) { return problem.A->apply(v); }, one, 1, means_.options())[0];
  const Tensor y = problem.A->format().measured(problem.y).flatten().to(at::kDouble);
  const Tensor variance = problem.sigma_y.square() * at::eye(A.size(0), A.options());
  std::vector<Tensor> log_weights, means, covariances;
  for (int64_t k = 0; k < weights_.size(0); ++k) {
    const Tensor cross = at::matmul(covariances_[k], A.transpose(0, 1));  // Cov(x0, y)
    const Tensor evidence = at::matmul(A, cross) + variance;              // Cov(y)
    const auto [log_density, solution] =
        gaussian((y - at::matmul(A, means_[k])).unsqueeze(0), evidence.unsqueeze(0));
    log_weights.push_back(weights_[k].log() + log_density[0]);
    means.push_back(means_[k] + at::matmul(cross, solution[0]));
    covariances.push_back(covariances_[k] -
                          at::matmul(cross, at::linalg_solve(evidence, cross.transpose(0, 1))));
  }
  const Tensor symmetric = at::stack(covariances);
  return Mixture(at::softmax(at::stack(log_weights), 0),
                 image(at::stack(means)),
                 (symmetric + symmetric.transpose(1, 2)) / 2);
}

Tensor Mixture::log_density(const Tensor& x) const {
  return log_density_at(x, {scalar(1), scalar(0), scalar(0), scalar(0)});
}

Tensor Mixture::log_density_at(const Tensor& x_t, const Coefficients& c) const {
  const Tensor x = x_t.flatten(1);
  const auto d = static_cast<double>(x.size(1));
  std::vector<Tensor> terms;
  for (int64_t k = 0; k < weights_.size(0); ++k) {
    const Tensor covariance =
        c.alpha.square() * covariances_[k] + c.beta.square() * at::eye(x.size(1), x.options());
    terms.push_back(weights_[k].log() +
                    gaussian(x - c.alpha * means_[k], covariance.unsqueeze(0)).log_density);
  }
  return at::logsumexp(at::stack(terms, 1), 1) - 0.5 * d * std::log(2 * std::numbers::pi);
}

Tensor Mixture::mean() const { return image((weights_.unsqueeze(1) * means_).sum(0, true))[0]; }

Tensor Mixture::covariance() const {
  const Tensor centred = means_ - (weights_.unsqueeze(1) * means_).sum(0, true);
  const Tensor between = at::matmul(centred.transpose(0, 1), weights_.unsqueeze(1) * centred);
  return (weights_.reshape({-1, 1, 1}) * covariances_).sum(0) + between;
}

Tensor Mixture::sample(Rng& rng, int64_t count) const {
  const int64_t d = means_.size(1);
  const Tensor u = rng.uniform({count, 1});
  const Tensor component =
      (u >= weights_.cumsum(0).unsqueeze(0)).sum(1).clamp_max(weights_.size(0) - 1);
  const Tensor noise = rng.normal({count, d});
  Tensor x = means_.index_select(0, component);
  for (int64_t k = 0; k < weights_.size(0); ++k) {
    const Tensor coloured = at::matmul(noise, at::linalg_cholesky(covariances_[k]).transpose(0, 1));
    x = x + coloured * (component == k).unsqueeze(1);
  }
  return image(x);
}

Mixture example_mixture(const Shape& image, int64_t components, uint64_t seed) {
  Rng rng(seed);
  const int64_t d = image[0] * image[1] * image[2];
  const Tensor means = 0.5 * rng.normal({components, image[0], image[1], image[2]});
  // Random covariances with eigenvalues between 0.02 and about 0.3: no direction is certain a
  // priori.
  const Tensor factor = 0.4 * rng.normal({components, d, d}) / std::sqrt(static_cast<double>(d));
  const Tensor covariances =
      at::matmul(factor, factor.transpose(1, 2)) + 0.02 * at::eye(d, at::kDouble);
  return Mixture(1 + rng.uniform({components}), means, covariances);
}

}  // namespace eps
