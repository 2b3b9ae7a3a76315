// `eps verify --methods`: the distance of each method from the posterior, where the posterior is
// known.
//
// An exact prior stands in for the network, so the remaining error is the method's own: its
// approximation, and the steps it takes.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `MethodRow` holds the errors of one method on one posterior. Errors are relative; an exact
// sampler has the floors, on average.
struct MethodRow {
  std::string prior;  // "gaussian", "mixture"
  std::string operator_spec;
  std::string method;  // with its options
  int64_t samples;
  std::string refusal;  // why the method does not take this operator; the rest is then 0
  double mean_error;    // |sample mean - mean| / sqrt(trace of the covariance)
  double mean_floor;
  double covariance_error;  // |sample covariance - covariance| / |covariance|, Frobenius norms
  double covariance_floor;
  double mean_z, covariance_z;       // the same two in standard errors (eps/math/statistics.h)
  double evaluations, vjps, solves;  // a sample
  bool may_refuse;                   // whether the method is for other operators only
  bool exact;                        // whether the method samples this posterior in theory

  // Returns whether the errors are at the sampling error: no more than 5 standard errors.
  bool at_floor() const;
};

// Returns the operators of the table, in its order.
const std::vector<std::string>& verify_methods_operators();

// Returns rows of all methods that an exact prior can serve, without pivot and pivot_sigma, which
// are then eps; calls `report` after each row. `quick`: fewer samples of fewer posteriors, for
// tests.
std::vector<MethodRow> verify_methods(uint64_t seed,
                                      bool quick,
                                      const std::function<void(const MethodRow&)>& report);

// Returns the broken claims of the rows, one line each: an exact method off the floor, an inexact
// one at the floor everywhere, a method that fails where it should not.
std::vector<std::string> broken_claims(const std::vector<MethodRow>& rows);

}  // namespace eps
