// Restores a measurement with the network that comes with eps, and prints how certain the result
// is.
#include <ATen/Parallel.h>

#include <cstdio>
#include <thread>

#include "eps/io/images/picture.h"
#include "eps/model/bundled.h"
#include "eps/restore/restore.h"

int main() {
  at::set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
  const eps::Checkpoint network = eps::read_checkpoint(eps::find_model("faces64-eps"));

  // The measurement is simulated from an image that comes with eps. For one of your own leave out
  // `simulate`, and give its operator:
  // {.mask = "mask.png"}, {.kernel = "kernel.npy"}, {.downscale = "4"}, ...
  const eps::RestorationResult result =
      eps::restore_measurement({.input = eps::find_in_models("faces64-images/07.png"),
                                .operator_options = {.spec = "inpaint_random:missing=0.7"},
                                .simulate = true,
                                .options = {.samples = 4}},
                               network);
  for (const std::string& warning : result.warnings) std::printf("%s\n", warning.c_str());
  const eps::Restoration& r = result.restoration;
  eps::write_picture("restored.png", r.mean, result.measurement.format);

  const eps::Tensor x0 = result.measurement.truth[0];
  const eps::Tensor inside = ((r.low <= x0) & (x0 <= r.high)).to(at::kDouble);
  std::printf(
      "chi2 %.2f: %s\ndeviation of a pixel %.3f, error of the mean %.3f, in the 90%% interval "
      "%.0f%%\n",
      r.chi2,
      result.report.verdict().c_str(),
      r.deviation.square().mean().sqrt().item<double>(),
      (r.mean - x0).square().mean().sqrt().item<double>(),
      100 * inside.mean().item<double>());
}
