// A picture of a network's restorations during training.
#pragma once

#include "eps/model/network_denoiser.h"
#include "eps/training/batch_source.h"

namespace eps::training {

// Returns a picture, uint8 (C, H, W). Columns are held-out images; rows are the image, its
// measurement, the posterior mean by one evaluation, and two posterior samples by 20 steps. A prior
// has samples only. A bridge begins at the measurement; InDI's samples are alike.
Tensor preview(const Checkpoint& model, const BatchSource& held_out, int64_t images);

}  // namespace eps::training
