// `eps verify --methods`: how far each method is from the posterior, where the posterior is known.
//
// An exact prior stands in for the network, so what is left of an error is the method's own: its
// approximation, and the steps it takes.
#pragma once

#include "eps/base/core.h"

namespace eps {

// One method on one posterior. Errors are relative; an exact sampler shows the floors, on average.
struct MethodRow {
  std::string prior;  // "gaussian", "mixture"
  std::string operator_spec;
  std::string method;  // with its options
  int64_t samples;
  std::string refusal;  // why it does not take this operator; the rest is then 0
  double mean_error;    // |sample mean - mean| / sqrt(trace of the covariance)
  double mean_floor;
  double covariance_error;  // |sample covariance - covariance| / |covariance|, Frobenius norms
  double covariance_floor;
  double mean_z, covariance_z;       // the same two in standard errors (eps/statistics.h)
  double evaluations, vjps, solves;  // a sample
  bool may_refuse;                   // whether it is made for other operators only
  bool exact;                        // whether the theory says that it samples this posterior

  // At the sampling error: no more than 5 standard errors.
  bool at_floor() const;
};

// The operators of the table, in its order.
const std::vector<std::string>& verify_methods_operators();

// Of all methods that an exact prior can serve (pivot and pivot_sigma are eps then, and left out);
// calls `report` after each row. `quick`: fewer samples of fewer posteriors, for tests.
std::vector<MethodRow> verify_methods(uint64_t seed,
                                      bool quick,
                                      const std::function<void(const MethodRow&)>& report);

// What the rows claim and do not keep, one line each: an exact method off the floor, another that
// is at the floor everywhere, one that fails where it should not.
std::vector<std::string> broken_claims(const std::vector<MethodRow>& rows);

}  // namespace eps
