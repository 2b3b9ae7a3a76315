// InDI (Delbracio and Milanfar 2023) returns from the degraded image in small steps, each of which
// undoes a little of the degradation.
//
//   x = x1 = picture(y) at t = 1,   x' = (d/t) F(x, t) + (1 - d/t) x at t' = t - d,
//
// for a network F = E[x0 | x_t] trained on x_t = (1 - t) x0 + t x1. One step is
// F(x1, 1), the posterior mean given picture(y). More steps follow the flow that carries p(x1) to
// p(x0): sharper images, but one for each y, so no sample of the posterior. The published variant
// that adds a little noise to x_t is left out, as are steps of other than equal length.
#include "eps/diffusion/bridge.h"
#include "eps/methods/method.h"

namespace eps {
namespace {

Tensor indi(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const int64_t steps = options.integer("steps");
  const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
    return oracle.posterior_mean(NetworkInput::indi, x, edm().at(sigma));
  };
  const Tensor x1 = oracle.A().format().picture(oracle.y()).expand_as(noise);
  return cross_bridge(bridge_of(NetworkInput::indi), mean, x1, steps, rng);
}

EPS_METHOD({.name = "indi",
            .summary = "from picture(y) to the image in small steps, without noise; a network of "
                       "its own (Delbracio and Milanfar 2023)",
            .input = NetworkInput::indi,
            .fields = {Field::integer(
                "steps", "20", at_least(1), "equal steps of t; 1: the posterior mean")},
            .sample = indi});

}  // namespace
}  // namespace eps
