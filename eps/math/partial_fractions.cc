// Functions of a symmetric matrix as sums of its resolvents.
#include "eps/math/partial_fractions.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "eps/math/kernels/least_squares.h"

namespace eps {

ResolventBasis::ResolventBasis(double largest, int64_t count, double ratio) {
  constexpr int64_t kPoints = 160;
  for (int64_t j = count - 1; j >= 0; --j)
    shifts_.push_back(largest * std::pow(ratio, 1 - static_cast<double>(j)));
  const Tensor line = at::logspace(
      std::log10(shifts_.front() / 10), std::log10(largest), kPoints, 10.0, at::kDouble);
  const Tensor e = at::cat({at::zeros({1}, at::kDouble), line});
  const Tensor s = at::tensor(shifts_, at::kDouble).flip(0);
  points_ = e.reshape({1, 1, 1, -1});
  basis_ = at::cat({at::ones({e.size(0), 1}, at::kDouble), s / (e.unsqueeze(1) + s)}, 1);
}

PartialFractions ResolventBasis::fit(const std::vector<Function>& functions,
                                     double tolerance,
                                     double floor) const {
  const int64_t m = basis_.size(0), columns = basis_.size(1), width = columns + 1;
  std::vector<Tensor> wanted;
  int64_t images = 1;
  for (const Function& f : functions) {
    wanted.push_back(f(points_).to(at::kCPU, at::kDouble));
    images = std::max(images, wanted.back().size(0));
  }
  for (Tensor& values : wanted) values = values.expand({images, 1, 1, m});
  const Tensor values = at::cat(wanted);
  const int64_t count = values.size(0);
  const double* const basis = basis_.data_ptr<double>();
  const double* const value = values.data_ptr<double>();

  std::vector<double> triangles(static_cast<size_t>(count * columns * width));
  std::vector<double> errors(static_cast<size_t>(count * columns));
  at::parallel_for(0, count, 4, [&](int64_t begin, int64_t end) {
    std::vector<double> a(static_cast<size_t>(m * width));
    for (int64_t n = begin; n < end; ++n) {
      const double* const goal = value + n * m;
      const double least = floor * *std::max_element(goal, goal + m);
      for (int64_t i = 0; i < m; ++i) {
        const double scale = 1 / std::max(goal[i], least);
        double* const row = a.data() + i * width;
        for (int64_t j = 0; j < columns; ++j) row[j] = scale * basis[i * columns + j];
        row[columns] = scale * goal[i];
      }
      kernels::nested_least_squares(a.data(),
                                    m,
                                    columns,
                                    triangles.data() + n * columns * width,
                                    errors.data() + n * columns);
    }
  });

  // The number of terms is one for all functions.
  std::vector<double> largest(static_cast<size_t>(columns), 0.0);
  for (size_t i = 0; i < errors.size(); ++i) {
    double& known = largest[i % largest.size()];
    known = std::max(known, errors[i]);
  }
  const double enough =
      std::max(tolerance, 1.5 * *std::min_element(largest.begin(), largest.end()));
  const auto found = std::find_if(
      largest.begin() + 1, largest.end(), [&](double error) { return error <= enough; });
  const int64_t terms = found - largest.begin() + 1;

  const Tensor weights = at::empty({count, terms}, at::kDouble);
  for (int64_t n = 0; n < count; ++n) {
    const double* const R = triangles.data() + n * columns * width;
    double* const w = weights.data_ptr<double>() + n * terms;
    std::vector<double> solved(static_cast<size_t>(terms));
    for (int64_t j = terms - 1; j >= 0; --j) {
      double left = R[j * width + columns];
      for (int64_t k = j + 1; k < terms; ++k)
        left -= R[j * width + k] * solved[static_cast<size_t>(k)];
      const double diagonal = R[j * width + j];
      solved[static_cast<size_t>(j)] = diagonal > 0 ? left / diagonal : 0;
    }
    // In the order of the shifts again.
    w[0] = solved[0];
    std::reverse_copy(solved.begin() + 1, solved.end(), w + 1);
  }
  return {.first = static_cast<int64_t>(shifts_.size()) - (terms - 1),
          .weights = weights.reshape({-1, images, terms}),
          .error = *found};
}

}  // namespace eps
