// Restores a measurement with the network that comes with eps, and says how sure it is.
#include <ATen/Parallel.h>

#include <cstdio>
#include <thread>

#include "eps/io/images/image.h"
#include "eps/model/bundled.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/task.h"
#include "eps/restore/restoration.h"

int main() {
  at::set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
  const eps::Checkpoint model = eps::read_checkpoint(eps::find_model("faces64-eps"));
  const eps::NetworkDenoiser denoiser(model);

  // A measurement: here of an image that comes with eps; in your program y and A are your own.
  const std::string file = eps::find_in_models("faces64-images/07.png");
  const eps::Tensor x0 = eps::from_uint8(eps::read_image(file)).to(at::kDouble).unsqueeze(0);
  const double sigma_y = 0.05;
  eps::Rng rng(0);
  const eps::Operator A = eps::make_operator("inpaint_random:missing=0.7", x0, rng);
  const eps::Problem problem = eps::observe(A, x0, eps::scalar(sigma_y), rng);

  const eps::MethodChoice method = eps::method_for(model.input, sigma_y, 20);
  const eps::Restoration r = eps::restore(method, denoiser, problem, {.samples = 4});
  eps::write_png("restored.png", eps::to_uint8(r.mean));

  const eps::Tensor inside = ((r.low <= x0[0]) & (x0[0] <= r.high)).to(at::kDouble);
  std::printf(
      "chi2 %.2f, deviation of a pixel %.3f, error of the mean %.3f, in the 90%% interval %.0f%%\n",
      r.chi2,
      r.deviation.square().mean().sqrt().item<double>(),
      (r.mean - x0[0]).square().mean().sqrt().item<double>(),
      100 * inside.mean().item<double>());
}
