// Queries and preconditioning as Python has them.
#pragma once

#include "binding.h"
#include "eps/diffusion/query.h"

namespace eps::python {

// A `BoundQuery` is the query at (x_t, y, t) with the input that it was made for.
struct BoundQuery {
  Query query;
  NetworkInput input;

  static BoundQuery of(const Query& query, const NetworkInput& input) { return {query, input}; }
};

}  // namespace eps::python
