// Data whose prior is known: images drawn from it, and its exact denoiser in place of a network.
#pragma once

#include "eps/base/spec.h"
#include "eps/diffusion/denoiser.h"

namespace eps {

// "exact:prior=mixture,size=8,channels=1,components=2,seed=0". The prior gaussian or mixture has
// dense covariances, for small images; stationary is for any size. Its numbers are not confined to
// [-1, 1].
const std::vector<Field>& exact_data_fields();
bool is_exact_data(const std::string& spec);

struct ExactData {
  Tensor images;  // (N, C, H, W), float64
  std::shared_ptr<const Denoiser> denoiser;
};
ExactData draw_exact_data(const std::string& spec, int64_t images);

}  // namespace eps
