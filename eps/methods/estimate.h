// Methods that are an estimate of E[x0 | x_t, y] and any sampler: EPS, and what imitates it.
#pragma once

#include "eps/diffusion/sampler.h"
#include "eps/methods/descent.h"

namespace eps {

// An estimate of E[x0 | x, y] for x = x0 + sigma n.
using Estimate = std::function<Tensor(const Tensor& x, const Tensor& sigma)>;

// The sampler and its grid, by default this one with so many steps.
std::vector<Field> sampler_fields(int64_t steps, const std::string& solver = "euler");

// Samples by the sampler that the options name.
Tensor sample_with(const Estimate& estimate,
                   const Oracle& oracle,
                   const Spec& options,
                   const Tensor& noise,
                   Rng& rng);

}  // namespace eps
