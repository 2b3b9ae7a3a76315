// The part of an image that a measurement determines, and the part that it leaves to the prior.
//
//   measured    P x,      P = A^+ A, the projection on the range of A'
//   unmeasured  x - P x,  the projection on the null space of A
//
// Of a mask these are the pixels inside and outside; of pooling, the means of the blocks and what
// differs from them. Both are linear in x, so intervals and ranks of either are calibrated for
// samples of the posterior, pixel by pixel. Together they hide each other's faults: where most
// pixels are measured, an average over all says little of the hole.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

struct Ensemble;

enum class Part { measured, unmeasured };

// Returns P x, (N, C, H, W), for an operator whose A'A has a fast basis; any other is an Error.
Tensor measured_part(const LinearOperator& A, const Tensor& x);

// Returns a sentence if the images of these problems do not have both parts, or if the parts cannot
// be computed; otherwise "".
std::string missing_part(const std::vector<Problem>& problems);

// Returns the values of f, a metric's per_image, for a part of each image of the batch. f sees one
// image at a time, samples (S, 1, D) and truth (1, D): the D pixels and channels that have such a
// part. An image without any has NaN.
Tensor for_each_part(const Ensemble& batch,
                     Part part,
                     const std::function<Tensor(const Ensemble& image)>& f);

}  // namespace eps
