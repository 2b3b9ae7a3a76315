// Some methods consist of an estimate of E[x0 | x_t, y] and any sampler: EPS and its imitations.
#pragma once

#include "eps/diffusion/sampler.h"
#include "eps/methods/descent.h"

namespace eps {

// An `Estimate` approximates E[x0 | x, y] for x = x0 + sigma n.
using Estimate = std::function<Tensor(const Tensor& x, const Tensor& sigma)>;

// Returns the fields of the sampler and its grid, with this many steps and this solver by default.
std::vector<Field> sampler_fields(int64_t steps, const std::string& solver = "euler");

// Samples with the solver, the schedule and the grid of the options.
Tensor sample_with(const Estimate& estimate,
                   const Oracle& oracle,
                   const Spec& options,
                   const Tensor& noise,
                   Rng& rng);

}  // namespace eps
