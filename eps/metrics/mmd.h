// Maximum mean discrepancy between restorations and truths (Gretton et al. 2012).
//
//   MMD^2 = mean k(x_i, x_j) + mean k(y_i, y_j) - 2 mean k(x_i, y_j), i != j in the first two,
//   k(u, v) = exp(-|u - v|^2 / (2 l^2)), l the median distance within the pooled sample.
//
// Each restoration x_i belongs to a truth y_i. With these pairs in the last mean (as the paper has
// it) the number cannot fall below a floor of about -2 (1 - mean k) / N; without them it is
// unbiased.
#pragma once

#include "eps/metrics/bootstrap.h"

namespace eps {

struct MmdStatistics {
  Statistic paired;    // with the pairs (i, i) in the cross term, as in the paper
  Statistic floor;     // `paired` if every restoration were its truth, at the same l
  Statistic unpaired;  // without these pairs
};

// Returns the mean of S MMDs, one per sample number. samples: (S, N, ...); truth: (N, ...); N >= 3.
MmdStatistics mmd(const Tensor& samples, const Tensor& truth);

}  // namespace eps
