// What a blur is made of: its kernel, and the part of the frame that it measures.
#pragma once

#include "eps/restore/noise_model.h"

namespace eps {

// Returns the kernel, (kh, kw), of a blur with one kernel for all; undefined of other operators.
Tensor kernel_of(const LinearOperator& A);

// Returns whether a kernel differs from its own mirror image, so that convolving and correlating
// with it differ. A symmetric kernel of even size is mirrored about a point between pixels, and so
// shifted.
bool is_lopsided(const Tensor& kernel);

// Returns the part of the frame of images (N, C, H, W) that a measurement y, (N, C, H', W'), of a
// valid blur has; none if y has the size of the image, or is no part of it.
std::optional<Cut> cut_of(const LinearOperator& A, const Tensor& y, const Shape& image);

}  // namespace eps
