// The contract of operators, as numbers.
#include "eps/verify/contract.h"

#include <algorithm>

#include "eps/math/conjugate_gradients.h"
#include "eps/math/dense_solve.h"
#include "eps/priors/dense.h"
#include "eps/verify/bounds.h"

namespace eps {
namespace {

double relative(const Tensor& value, const Tensor& wanted) {
  const double size = wanted.norm().item<double>();
  return (value - wanted).norm().item<double>() / std::max(size, 1e-300);
}

Tensor measurement_noise(const LinearOperator& A, const Shape& image, Rng& rng) {
  return A.format().measured(rng.normal(A.apply(at::zeros(image, at::kDouble)).sizes().vec()));
}

Coefficients edm_at(double sigma) { return edm().at(scalar(sigma)); }

// Returns Sigma_star^{-1} v = v/sigma^2 + A'A v/sigma_y^2, from apply and adjoint alone.
Tensor precision_times(const LinearOperator& A, double sigma, const Tensor& v) {
  return v / (sigma * sigma) + A.adjoint(A.apply(v)) / (kVerifySigmaY * kVerifySigmaY);
}

}  // namespace

double adjoint_error(const LinearOperator& A, const Shape& image, Rng& rng) {
  const Tensor x = rng.normal(image);
  const Tensor Ax = A.apply(x);
  const Tensor y = rng.normal(Ax.sizes().vec());
  const double difference = ((Ax * y).sum() - (x * A.adjoint(y)).sum()).abs().item<double>();
  return difference / (Ax.norm() * y.norm()).item<double>();
}

double ridge_residual(const LinearOperator& A, const Shape& image, double lambda, Rng& rng) {
  const Tensor r = measurement_noise(A, image, rng);
  const Tensor u = A.ridge(r, scalar(lambda));
  const Tensor b = A.adjoint(r);
  const Tensor residual = A.adjoint(A.apply(u)) + lambda * u - b;
  return (batch_dot(residual, residual) / batch_dot(b, b)).sqrt().max().item<double>();
}

double ridge_against_cg(const LinearOperator& A, const Shape& image, double lambda, Rng& rng) {
  const Tensor r = measurement_noise(A, image, rng);
  const auto normal = [&](const Tensor& u) { return A.adjoint(A.apply(u)) + lambda * u; };
  const Tensor found = A.ridge(r, scalar(lambda)), b = A.adjoint(r);
  // Operators without a closed form would be compared with themselves.
  constexpr int64_t kDense = 1024;
  if (!A.closed_form() && b[0].numel() <= kDense) {
    const Tensor matrix = matrix_of(normal, image, image[0], at::kDouble);
    return relative(found, dense_solve(matrix, b.flatten(1).unsqueeze(2)).reshape_as(b));
  }
  return relative(found,
                  conjugate_gradients(normal, b, {.tolerance = 1e-13, .max_iterations = 20000}));
}

double filter_error(const LinearOperator& A, const Shape& image, Rng& rng) {
  const Spectral* spectral = &A.functions();
  const Tensor x = rng.normal(image);
  const Tensor normal = A.adjoint(A.apply(x));
  // Functions without a fast basis are those that fall with the eigenvalue, and near 1e-3 exact.
  const double forward =
      A.spectral() ? relative(spectral->filter(x, [](const Tensor& e) { return e; }), normal) : 0;
  const double inverse =
      relative(spectral->filter(normal + x, [](const Tensor& e) { return 1 / (e + 1); }), x);
  // diagonal() must agree with a few columns of f(A'A).
  const auto f = [](const Tensor& e) { return 1 / (e + 1); };
  const Tensor diagonal = spectral->diagonal(x, f).expand(image);
  // Functions together must be those alone.
  const auto root = [](const Tensor& e) { return (e + 1).rsqrt(); };
  const std::vector<Tensor> both = spectral->filters(x, {f, root});
  const double together = std::max(relative(both[0], spectral->filter(x, f)),
                                   relative(both[1], spectral->filter(x, root)));
  double worst = std::max({forward, inverse, together});
  for (int64_t i = 0; i < 5; ++i) {
    const int64_t place = i * 7919 % x[0].numel();
    Tensor impulse = at::zeros_like(x).flatten(1);
    impulse.select(1, place).fill_(1);
    const Tensor column = spectral->filter(impulse.reshape(image), f).flatten(1).select(1, place);
    worst = std::max(worst, relative(diagonal.flatten(1).select(1, place), column));
  }
  return worst;
}

double pivot_residual(const Operator& A, const Shape& image, double sigma, Rng& rng) {
  const Problem problem = observe(A, rng.normal(image), scalar(kVerifySigmaY), rng);
  const Tensor x_t = sigma * rng.normal(image);
  const Tensor mu = pivot(problem, x_t, edm_at(sigma));
  const Tensor b = x_t / (sigma * sigma) + A->adjoint(problem.y) / (kVerifySigmaY * kVerifySigmaY);
  return relative(precision_times(*A, sigma, mu), b);
}

double float32_pivot_error(const Operator& A, const Shape& image, double sigma, Rng& rng) {
  const Problem problem = observe(A, rng.normal(image), scalar(kVerifySigmaY), rng);
  const Tensor x_t = sigma * rng.normal(image);
  const Tensor exact = pivot(problem, x_t, edm_at(sigma));
  const Problem rounded{A, problem.y.to(at::kFloat), problem.sigma_y};
  const Tensor mu = pivot(rounded, x_t.to(at::kFloat), edm_at(sigma));
  check(mu.scalar_type() == at::kFloat,
        "the pivot of float32 images is ",
        mu.dtype().name(),
        ", wanted float32");
  return ((mu - exact).abs().max() / exact.abs().max()).item<double>();
}

MomentTest pivot_law(
    const Operator& A, const Shape& image, double sigma, int64_t simulations, Rng& rng) {
  const Tensor x0 = rng.normal(image);
  const Tensor many = x0.expand({simulations, -1, -1, -1});
  const Problem problem = observe(A, many, scalar(kVerifySigmaY), rng);
  const Tensor x_t = many + sigma * rng.normal(many.sizes().vec());
  const Tensor mu = pivot(problem, x_t, edm_at(sigma));
  const Tensor precision = matrix_of(
      [&](const Tensor& v) { return precision_times(*A, sigma, v); }, image, 1, x0.options())[0];
  // Sigma_star^{-1} = L L': L' whitens.
  return test_whitened(
      at::matmul((mu - x0).flatten(1), at::linalg_cholesky((precision + precision.t()) / 2)));
}

double score_error(
    const Operator& A, const Mixture& prior, const Shape& image, const Coefficients& c, Rng& rng) {
  const Tensor x0 = prior.sample(rng, 1);
  const Problem problem = observe(A, x0, scalar(kVerifySigmaY), rng);
  const Tensor x_t = c.alpha * x0 + c.beta * rng.normal(image);
  const Tensor score = score_from_mean(x_t, prior.mean(pivot_query(problem, x_t, c)), c);
  const int64_t d = x_t.numel();
  const double h = 1e-4 * c.beta.item<double>();
  const Tensor steps = h * at::eye(d, x_t.options()).reshape({d, image[1], image[2], image[3]});
  const Mixture posterior = prior.posterior(problem);
  const Tensor gradient =
      (posterior.log_density_at(x_t + steps, c) - posterior.log_density_at(x_t - steps, c)) /
      (2 * h);
  return relative(score.flatten(), gradient);
}

double limit_error(const Operator& A, const Shape& image, Rng& rng) {
  const Problem problem = observe(A, rng.normal(image), scalar(kVerifySigmaY), rng);
  const Tensor x_t = rng.normal(image);
  const Tensor matrix =
      matrix_of([&](const Tensor& v) { return A->apply(v); }, image, 1, x_t.options())[0];
  const Tensor x = x_t.flatten(), y = problem.y.flatten();
  const Tensor wanted = x + at::matmul(at::linalg_pinv(matrix, 1e-12), y - at::matmul(matrix, x));
  const Tensor far = pivot(problem, x_t, edm_at(1e6 * kVerifySigmaY));
  return std::max(relative(far.flatten(), wanted),
                  relative(high_noise_pivot(problem, x_t).flatten(), wanted));
}

}  // namespace eps
