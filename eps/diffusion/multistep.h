// Samplers that learn from the estimates of earlier steps: one evaluation a step, of higher order.
//
// On the data's own scale, z = x/alpha and s = beta/alpha, the probability flow is the same for
// every interpolant: dz/ds = (z - D)/s for D = E[x0 | x_t], or in lambda = -ln s, for a step h of
// it,
//
//   z(lambda + h) = e^{-h} z(lambda) + int_0^h e^{-(h - u)} D(lambda + u) du.
//
// A solver approximates one of the two integrands by a polynomial through the latest estimates. The
// last step, to t = 0, returns the mean.
#pragma once

#include "eps/diffusion/denoiser.h"

namespace eps {

// iPNDM (Zhang and Chen 2022) is the method of Adams and Bashforth for (z - D)/s as a function of
// s, of fourth order once there are four estimates. The weights are those of the grid's own,
// unequal steps.
Tensor ipndm(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid);

// UniPC (Zhao et al. 2023, Alg. 2, with B_2 predicts by three estimates, and corrects
// the state by the estimate at the prediction, which costs no evaluation. Third order.
Tensor unipc(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid);

// Returns the integrals from a to b of Lagrange's polynomials of the nodes: the weights with which
// values at the nodes give the integral of the polynomial through them.
std::vector<double> lagrange_integrals(const std::vector<double>& nodes, double a, double b);

}  // namespace eps
