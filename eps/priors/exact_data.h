// Exact data are images drawn from a known prior, whose exact denoiser takes the place of a
// network.
#pragma once

#include "eps/base/spec.h"
#include "eps/diffusion/denoiser.h"

namespace eps {

// Returns the fields of "exact:prior=mixture,size=8,channels=1,components=2,seed=0". The priors
// gaussian and mixture have dense covariances, for small images; stationary is for any size. The
// images are not confined to [-1, 1].
const std::vector<Field>& exact_data_fields();
bool is_exact_data(const std::string& spec);

struct ExactData {
  Tensor images;  // (N, C, H, W), float64
  std::shared_ptr<const Denoiser> denoiser;
};
ExactData draw_exact_data(const std::string& spec, int64_t images);

}  // namespace eps
