// Adam updates whole tensors in place.
#include "eps/math/adam.h"

#include <algorithm>
#include <cmath>

namespace eps {

Adam::Adam(Tensor parameters, const AdamOptions& options)
    : parameters_(std::move(parameters)),
      options_(options),
      state_{at::zeros_like(parameters_), at::zeros_like(parameters_), 0} {}

void Adam::step(const Tensor& gradient, double learning_rate) {
  const c10::NoGradGuard no_grad;
  const auto& [beta1, beta2, epsilon] = options_;
  ++state_.steps;
  const auto steps = static_cast<double>(state_.steps);
  const double mean_weight = 1 - std::pow(beta1, steps);  // of the gradients seen so far: the bias
  const double square_weight = 1 - std::pow(beta2, steps);
  state_.mean.lerp_(gradient, 1 - beta1);
  state_.square.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
  Tensor deviation = state_.square.sqrt().div_(std::sqrt(square_weight)).add_(epsilon);
  Tensor parameters = parameters_;
  parameters.addcdiv_(state_.mean, deviation, -learning_rate / mean_weight);
}

double learning_rate_at(int64_t images_seen, double rate, double rampup) {
  return rate * std::min(static_cast<double>(images_seen) / std::max(rampup, 1e-8), 1.0);
}

double decay_at(int64_t images_seen, int64_t images, double decay) {
  if (decay == 0) return 1;
  return std::clamp(static_cast<double>(images - images_seen) / decay, 0.0, 1.0);
}

double ema_weight_at(int64_t images_seen, int64_t batch, double halflife, double rampup) {
  if (rampup > 0) halflife = std::min(halflife, rampup * static_cast<double>(images_seen));
  return std::pow(0.5, static_cast<double>(batch) / std::max(halflife, 1e-8));
}

}  // namespace eps
