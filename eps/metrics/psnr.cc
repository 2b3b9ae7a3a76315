// Peak signal-to-noise ratio.
#include "eps/metrics/psnr.h"

#include "eps/metrics/ensemble.h"
#include "eps/metrics/metric.h"

namespace eps {

Tensor psnr(const Tensor& images, const Tensor& truth) {
  const Tensor error = images.clamp(-1, 1).to(at::kDouble) - truth.clamp(-1, 1).to(at::kDouble);
  return 10 * (4 / error.square().mean({-3, -2, -1})).log10();
}

EPS_METRICS(10,
            {{.name = "psnr",
              .label = "PSNR",
              .help = "peak signal-to-noise ratio of a sample, dB; higher is better",
              .better = Better::higher,
              .digits = 2,
              .per_image = [](const Ensemble& e) { return psnr(e.samples, e.truth).mean(0); }},
             {.name = "psnr_of_mean",
              .label = "PSNR of mean",
              .help = "PSNR of the mean of an image's samples, dB; higher is better",
              .better = Better::higher,
              .digits = 2,
              .per_image = [](const Ensemble& e) { return psnr(e.samples.mean(0), e.truth); }}});

}  // namespace eps
