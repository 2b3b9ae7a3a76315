// Noise levels, operators and dense inverses for the tests of projecting methods.
#pragma once

#include <algorithm>

#include "tests/methods/method_testbed.h"

namespace eps {

// The levels 2, 1.025, 0.05 and 0 lie above and below the noise of y, sigma_y = 0.1.
inline constexpr const char* kLevels = "steps=3,sigma_max=2,sigma_min=0.05,rho=1";
inline const std::vector<std::pair<double, double>> kSteps = {{2, 1.025}, {1.025, 0.05}, {0.05, 0}};

// Returns the spec of a method, such as "ddnm:rule=wiener" or "ddnm", with these levels.
inline std::string with_levels(const std::string& method) {
  const bool has_options = std::count(method.begin(), method.end(), ':') > 0;
  return method + (has_options ? "," : ":") + kLevels;
}

// Returns an operator for every kind of basis.
inline std::vector<std::string> operators_with_basis() {
  std::vector<std::string> specs = testbed_operators();
  for (const char* spec : {"hadamard:keep=0.5",
                           "fourier_lines:acceleration=2,center=0.25",
                           "blur_pool:std=0.6,size=3,factor=2",
                           "matrix:rows=10"})
    specs.push_back(spec);
  return specs;
}

// Returns whether the method takes the operator; repaint needs a mask.
inline bool applies(const std::string& method, const LinearOperator& A) {
  return method.rfind("repaint", 0) != 0 || (A.spectral() && A.spectral()->basis() == Basis::pixel);
}

// Returns y - A x of each row.
inline Tensor misfit(const MethodTestbed& bed, const Tensor& x) {
  return bed.y - at::matmul(x, bed.A.t());
}

// Returns A'(A A' + lambda)^{-1} r of each row; A^+ r at lambda = 0.
inline Tensor regularised_inverse(const MethodTestbed& bed, const Tensor& r, double lambda) {
  if (lambda == 0) return at::matmul(r, at::linalg_pinv(bed.A, 1e-10).t());
  const Tensor gram = at::matmul(bed.A, bed.A.t());
  const Tensor inverse = at::linalg_inv(gram + lambda * at::eye(gram.size(0), at::kDouble));
  return at::matmul(at::matmul(r, inverse), bed.A);
}

}  // namespace eps
