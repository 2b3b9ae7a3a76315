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
//
// The last step goes from the lowest level s to 0. last=mean returns D = E[x0 | x, y], as EDM does.
// Along a direction in which the posterior has the variance v, x has v + s^2, and D has v^2/(v +
// s^2): samples lose the part s^2/(v + s^2) of their variance. last=flow returns (x + D)/2, Euler's
// step of the probability flow in s^2, dx/d(s^2) = (x - D)/(2 s^2). Its variance is
// v (1 + r/2)^2/(1 + r), r = s^2/v: an excess of r^2/4 only, to the first order; where nothing is
// uncertain, s/2 of the noise stays. A sampler of one step ends in the mean in either case.
Tensor sample_with(const Estimate& estimate,
                   const Oracle& oracle,
                   const Spec& options,
                   const Tensor& noise,
                   Rng& rng);

}  // namespace eps
