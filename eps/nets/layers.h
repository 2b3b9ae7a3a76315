// The layers of the U-Net: convolution with resampling, normalisation, attention, blocks.
//
// Every layer is a differentiable function of a plan, a table of tensors and an input. Where
// gradients are not required, faster kernels without gradients give the same output up to rounding.
#pragma once

#include "eps/nets/plan.h"

namespace eps::nets {

// An `Evaluation` holds the plan, the tensors and, in training, the generator of dropout.
struct Evaluation {
  const UNetPlan& plan;
  const std::vector<Tensor>& tensors;
  at::Generator training = {};  // undefined: inference
  bool gradients = true;        // may be required

  // Returns the tensor, unchanged or in the type of x; an undefined Tensor for kAbsent.
  Tensor get(int64_t index) const;
  Tensor get(int64_t index, const Tensor& x) const;
};

Tensor convolve(const Evaluation& net, const ConvLayer& layer, const Tensor& x);
Tensor map_linear(const Evaluation& net, const LinearLayer& layer, const Tensor& x);

// `NormOptions` describes the operations before and after a normalisation.
struct NormOptions {
  Tensor offset = {};      // (N or 1, C), added before the norm
  Tensor modulation = {};  // (N or 1, 2 C), after the norm: h * (1 + scale) + shift
  bool silu = false;       // after the modulation
  bool dropout = false;    // last, in training; only with silu
};
Tensor group_normalise(const Evaluation& net,
                       const NormLayer& layer,
                       const Tensor& x,
                       const NormOptions& options = {});

// Returns (x + attention over all pixels of x) times the skip scale.
Tensor attend(const Evaluation& net, const AttentionLayer& layer, const Tensor& x);

// Applies one block to x (N, C, H, W); embedding (N or 1, E).
Tensor apply_block(const Evaluation& net,
                   const BlockLayer& layer,
                   const Tensor& x,
                   const Tensor& embedding);

// Returns the embedding (N or 1, E) of the noise level, the class and the augmentation, an input of
// every block.
Tensor embed(const Evaluation& net,
             const Tensor& noise_labels,
             const Tensor& class_labels,
             const Tensor& augment_labels);

}  // namespace eps::nets
