// I2SB (Liu et al. 2023) returns from the degraded image along a Brownian bridge.
//
//   x = x1 = picture(y) at t = 1,
//   x' = (d/s^2) x0 + (s'^2/s^2) x + sqrt(d s'^2/s^2) z,   d = s^2 - s'^2,   x0 = E[x0 | x],
//
// with s^2 the variance that the bridge gathers by t (bridge.h). x1 is as it was measured: noise of
// y is in it, and none is added, in training or here. The holes of a mask are 0 in x1 and are
// bridged like all other pixels; for inpainting the authors fill them with N(0, I), count the loss
// in the holes alone and put the known pixels back after each step, and they can show the network
// x1 beside x (cond_x1): on masks this is another method than theirs. The last step goes to 0 and
// is x0 itself; the authors' ends at their first level, 0.01.
//
// Each step sees x alone, not x1: the way back keeps the law of every x_t, and so that of x0 over
// all y. For a given y it is the posterior's where x1 is x0 with noise of the variance of the whole
// bridge, and then this is ancestral sampling of x = x0 + s n from x1. Otherwise it is not: after
// less noise than that, samples spread farther than the posterior does.
//
// ode=1 leaves the noise out (OT-ODE). The authors train their networks for OT-ODE without noise,
// too; to a network that was trained with noise such images are new.
#include "eps/diffusion/bridge.h"
#include "eps/methods/method.h"

namespace eps {
namespace {

Tensor i2sb(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const int64_t steps = options.integer("steps");
  const bool noisy = !options.flag("ode");
  const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
    return oracle.posterior_mean(NetworkInput::i2sb, x, edm().at(sigma));
  };
  const Tensor x1 = oracle.A().format().picture(oracle.y()).expand_as(noise);
  return cross_bridge(bridge_of(NetworkInput::i2sb), mean, x1, steps, rng, noisy);
}

EPS_METHOD({.name = "i2sb",
            .summary = "from picture(y) to the image along a Brownian bridge; a network of its own "
                       "(Liu et al. 2023)",
            .input = NetworkInput::i2sb,
            .fields = {Field::integer(
                           "steps", "100", at_least(1), "equal steps of t; 1: the posterior mean"),
                       Field::flag("ode", "0", "1: without noise (OT-ODE)")},
            .sample = i2sb});

}  // namespace
}  // namespace eps
