// Chi-square of the residual y - A x.
#include "eps/metrics/consistency.h"

#include "eps/math/conjugate_gradients.h"
#include "eps/metrics/ensemble.h"
#include "eps/metrics/evaluation.h"

namespace eps {

Tensor chi_square(const Problem& problem, const Tensor& images) {
  const Tensor &sigma = problem.sigma_y, least = sigma.min();
  check(least.item<double>() > 0,
        "chi_square: sigma_y must be above 0, got ",
        least.item<double>(),
        "; without noise every residual is infinitely unlikely");
  const LinearOperator& A = *problem.A;
  const Tensor prediction = A.apply(images.to(at::kDouble));
  const Tensor residual = A.format().measured(problem.y.to(at::kDouble) - prediction);
  const Tensor scaled = residual / per_sample(sigma, residual);
  return batch_dot(scaled, scaled).flatten() / problem.measurements();
}

namespace {

// Returns the chi-square of each image's samples, on average: (N). An image without any measurement
// (a mask that hides all of it) has NaN.
Tensor mean_chi_square(const Ensemble& all) {
  std::vector<Tensor> values;
  int64_t begin = 0;
  for (const Problem& problem : *all.options.problems) {
    const int64_t end = begin + problem.y.size(0);
    Tensor sum = at::zeros({end - begin}, at::kDouble);
    for (const Tensor& sample : all.samples.unbind(0)) {
      const Tensor images = sample.slice(0, begin, end).to(problem.y.device(), at::kDouble);
      sum += chi_square(problem, images).to(at::kCPU);
    }
    values.push_back(sum / all.samples.size(0));
    begin = end;
  }
  return at::cat(values);
}

}  // namespace

EPS_METRICS(
    80,
    {{.name = "chi2",
      .label = "chi2",
      .help = "|y - A x|^2 / (sigma_y^2 M) of a sample; 1 for the truth and for exact samples",
      .better = Better::target,
      .target = 1,
      .digits = 3,
      .needs = {.problems = true},
      .of_all = [](const Ensemble& all) { return over_defined(mean_chi_square(all), mean_of); }}});

}  // namespace eps
