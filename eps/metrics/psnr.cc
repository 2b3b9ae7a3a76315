// Peak signal-to-noise ratio.
#include "eps/metrics/psnr.h"

namespace eps {

Tensor psnr(const Tensor& images, const Tensor& truth) {
  const Tensor error = images.clamp(-1, 1).to(at::kDouble) - truth.clamp(-1, 1).to(at::kDouble);
  return 10 * (4 / error.square().mean({-3, -2, -1})).log10();
}

}  // namespace eps
