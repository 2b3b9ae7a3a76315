// What the U-Net's layers compute: convolution with resampling, normalisation, attention, blocks.
//
// Everything is a function of a plan, a table of tensors and an input. All of it is differentiable;
// where no gradients are wanted, faster kernels that have none answer the same up to rounding.
#pragma once

#include "eps/nets/plan.h"

namespace eps::nets {

// One evaluation: the plan, the numbers, and, when training, where dropout draws from.
struct Evaluation {
  const UNetPlan& plan;
  const std::vector<Tensor>& tensors;
  at::Generator training = {};  // undefined: inference
  bool gradients = true;        // may be wanted

  // The tensor as it is, and in the type of x; an undefined Tensor for kAbsent.
  Tensor get(int64_t index) const;
  Tensor get(int64_t index, const Tensor& x) const;
};

Tensor convolve(const Evaluation& net, const ConvLayer& layer, const Tensor& x);
Tensor map_linear(const Evaluation& net, const LinearLayer& layer, const Tensor& x);

// What is applied to an image with its normalisation.
struct NormOptions {
  Tensor offset = {};      // (N or 1, C) added before
  Tensor modulation = {};  // (N or 1, 2 C): scales and shifts, h * (1 + scale) + shift after
  bool silu = false;       // after that
  bool dropout = false;    // at the end, when training; only after silu
};
Tensor group_normalise(const Evaluation& net,
                       const NormLayer& layer,
                       const Tensor& x,
                       const NormOptions& options = {});

// x + attention over all pixels of x, times the skip scale.
Tensor attend(const Evaluation& net, const AttentionLayer& layer, const Tensor& x);

// x (N, C, H, W) through one block; embedding (N or 1, E).
Tensor apply_block(const Evaluation& net,
                   const BlockLayer& layer,
                   const Tensor& x,
                   const Tensor& embedding);

// The vector (N or 1, E) that tells every block the noise level, the class and the augmentation.
Tensor embed(const Evaluation& net,
             const Tensor& noise_labels,
             const Tensor& class_labels,
             const Tensor& augment_labels);

}  // namespace eps::nets
