// The query to a denoiser at (x_t, y, t). Trainer and methods both call make_query(), so they
// cannot disagree about a network's input.
#pragma once

#include "eps/diffusion/network_input.h"
#include "eps/diffusion/pivot.h"

namespace eps {

// A `Query` holds x = x0 + noise of covariance (I/sigma^2 + A'A/sigma_y^2)^{-1}; without an
// operator, sigma^2 I. This is the data's own scale, alpha = 1, so one denoiser serves every
// schedule.
struct Query {
  Tensor x;
  Tensor sigma;
  Operator A = nullptr;
  Tensor sigma_y = {};
  Tensor side = {};    // (N, C', H, W): further channels for a network, all but the skip
  Tensor labels = {};  // (N, label_dim)
};

// A `Trajectory` keeps what its queries share from one noise level to the next: the pivots so far,
// to start from, and side channels that do not change.
struct Trajectory {
  PivotPath pivots = {};
  Tensor side = {};
  // What the side was made for.
  NetworkInput input = {};
  Problem problem = {};
};

// Returns the query of an input. A bridge's query is x_t unchanged, at its network's noise level. A
// prior's query ignores the problem, but for its labels.
Query make_query(const NetworkInput& input,
                 const Problem& problem,
                 const Tensor& x_t,
                 const Coefficients& c,
                 Trajectory& trajectory);
Query make_query(const NetworkInput& input,
                 const Problem& problem,
                 const Tensor& x_t,
                 const Coefficients& c);

// These functions return the two queries of an exact prior; the pivot is exact for any operator.
Query prior_query(const Tensor& x_t, const Coefficients& c);
Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c);

// `UnmeasuredQueries` are those with which a network of a pivot's input answers a prior's queries:
// of an operator A = 0. Such a measurement says nothing, so that E[x0 | x_t, y] is E[x0 | x_t]. The
// operator is kept for images of the same size.
class UnmeasuredQueries {
 public:
  Query operator()(const NetworkInput& input, const Query& prior) const;

 private:
  Operator nothing_for(const Tensor& x) const;

  mutable std::mutex mutex_;
  mutable Tensor mask_;  // of nothing_
  mutable Operator nothing_;
};

}  // namespace eps
