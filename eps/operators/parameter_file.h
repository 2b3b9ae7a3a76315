// Masks, weights, kernels, coil maps and matrices from files.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns a mask of 0 and 1 in float64, (N or 1, H, W), from an array of 0 and 1, from an image
// whose white is 1, or from one with transparent pixels, which are 0. An image in which more than a
// quarter is neither black nor white is an Error. The file must hold one mask, or one for each
// image of `like`, of its height and width.
Tensor read_mask_file(const std::string& path, const Tensor& like);
// Returns a mask in memory as read_mask_file() does an array; `name` is for messages.
Tensor mask_from(const Tensor& values, const std::string& name, const Tensor& like);

// Returns weights in [0, 1] in float64, (N or 1, H, W), from an array or from an image whose white
// is 1, as read_mask_file() does.
Tensor read_weights_file(const std::string& path, const Tensor& like);

// Returns kernels, (N or 1, kh, kw) in float64: an array unchanged, or an image divided by its sum.
// Returns height and width of the kernels of such a file.
std::pair<int64_t, int64_t> kernel_file_size(const std::string& path);
Tensor read_kernel_file(const std::string& path, const Tensor& like);
// Returns kernels in memory as read_kernel_file() does an array; `name` is for messages.
Tensor kernel_from(const Tensor& values, const std::string& name, const Tensor& like);

// Returns a stack of kernels or of weights, (K, rows, columns) in float64, from an array.
Tensor read_stack_file(const std::string& path);

// Returns coil maps, complex128 (K, H, W), from an array of complex numbers or of pairs, K x H x W
// x 2, of the image's height and width.
Tensor read_coils_file(const std::string& path, const Tensor& like);

// Returns matrices, (N or 1, M, CHW) in float64, from an array.
Tensor read_matrix_file(const std::string& path, const Tensor& like);

}  // namespace eps
