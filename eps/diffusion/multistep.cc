// Samplers that learn from the estimates of earlier steps.
#include "eps/diffusion/multistep.h"

#include <cmath>
#include <deque>

namespace eps {
namespace {

// A `Past` holds the latest estimates, the newest first, with their levels.
struct Past {
  std::deque<Tensor> values;
  std::deque<double> levels;  // s or lambda

  void add(const Tensor& value, double level, size_t most) {
    values.push_front(value);
    levels.push_front(level);
    if (values.size() > most) {
      values.pop_back();
      levels.pop_back();
    }
  }
};

// Returns the noise levels of the grid but the last, 0.
std::vector<double> levels_of(const Schedule& schedule, const Tensor& grid) {
  std::vector<double> levels;
  for (int64_t i = 0; i + 1 < grid.numel(); ++i)
    levels.push_back(schedule.at(grid[i]).sigma().item<double>());
  return levels;
}

// Returns the solution of the Vandermonde system sum_j r_j^k w_j = b_k, k = 0, 1, ...
std::vector<double> vandermonde(const std::vector<double>& r, const std::vector<double>& b) {
  const auto n = static_cast<int64_t>(r.size());
  const Tensor nodes = at::tensor(r, at::kDouble);
  const Tensor powers = nodes.unsqueeze(0).pow(at::arange(n, at::kDouble).unsqueeze(1));
  const Tensor w = at::linalg_solve(powers, at::tensor(b, at::kDouble).unsqueeze(1)).contiguous();
  return {w.data_ptr<double>(), w.data_ptr<double>() + n};
}

// A `UnifiedStep` is one step of UniPC, z' = s'/s z - (e^{-h} - 1) D_0 - B sum_j w_j (D_j -
// D_0)/r_j for estimates D_j at lambda_0 + r_j h.
struct UnifiedStep {
  UnifiedStep(const Tensor& z, const Past& past, double to)
      : D_0(past.values[0]), h(to - past.levels[0]), B(std::expm1(-h)) {
    first_order = std::exp(-h) * z - B * D_0;
    for (size_t j = 1; j < past.values.size(); ++j) {
      r.push_back((past.levels[j] - past.levels[0]) / h);
      slopes.push_back((past.values[j] - D_0) / r.back());
    }
    // b_k = k! phi_{k+1}(-h) (-h) / B, with phi_{k+1}(x) = (phi_k(x) - 1/k!)/x.
    double phi = B / -h - 1, factorial = 1;
    for (size_t k = 1; k <= r.size() + 1; ++k) {
      b.push_back(phi * factorial / B);
      factorial *= static_cast<double>(k + 1);
      phi = phi / -h - 1 / factorial;
    }
  }
  Tensor predicted() const {
    if (slopes.empty()) return first_order;
    return with(r.size() == 1 ? std::vector<double>{0.5} : vandermonde(r, {b.begin(), b.end() - 1}),
                {});
  }
  // Returns the state by the estimate at the end of the step, too.
  Tensor corrected(const Tensor& D_end) const {
    std::vector<double> nodes = r;
    nodes.push_back(1);
    return with(nodes.size() == 1 ? std::vector<double>{0.5} : vandermonde(nodes, b), D_end - D_0);
  }

 private:
  Tensor with(const std::vector<double>& w, const Tensor& last) const {
    Tensor z = first_order;
    for (size_t j = 0; j < slopes.size(); ++j) z = z - B * w[j] * slopes[j];
    return last.defined() ? z - B * w.back() * last : z;
  }

  const Tensor D_0;
  const double h, B;
  Tensor first_order;
  std::vector<double> r, b;
  std::vector<Tensor> slopes;
};

}  // namespace

std::vector<double> lagrange_integrals(const std::vector<double>& nodes, double a, double b) {
  // About a and in units of b - a, where the powers do not cancel: the integral of u^k is
  // 1/(k + 1).
  std::vector<double> u, moments;
  for (size_t k = 0; k < nodes.size(); ++k) {
    u.push_back((nodes[k] - a) / (b - a));
    moments.push_back(1 / static_cast<double>(k + 1));
  }
  std::vector<double> weights = vandermonde(u, moments);
  for (double& weight : weights) weight *= b - a;
  return weights;
}

Tensor ipndm(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  constexpr size_t kOrder = 4;
  const std::vector<double> s = levels_of(schedule, grid);
  Tensor z = x / schedule.at(grid[0]).alpha;
  Past past;  // (z - D)/s at s
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    const Tensor t = grid[static_cast<int64_t>(i)];
    past.add((z - mean(schedule.at(t).alpha * z, t)) / s[i], s[i], kOrder);
    const std::vector<double> w =
        lagrange_integrals({past.levels.begin(), past.levels.end()}, s[i], s[i + 1]);
    for (size_t j = 0; j < w.size(); ++j) z = z + w[j] * past.values[j];
  }
  const Tensor t = grid[grid.numel() - 2];
  return mean(schedule.at(t).alpha * z, t);
}

Tensor unipc(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  constexpr size_t kOrder = 3;
  const std::vector<double> s = levels_of(schedule, grid);
  Tensor z = x / schedule.at(grid[0]).alpha, D = mean(x, grid[0]);
  Past past;  // D at lambda
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    past.add(D, -std::log(s[i]), kOrder);
    const UnifiedStep step(z, past, -std::log(s[i + 1]));
    const Tensor t = grid[static_cast<int64_t>(i) + 1];
    D = mean(schedule.at(t).alpha * step.predicted(), t);
    z = step.corrected(D);
  }
  return D;
}

}  // namespace eps
