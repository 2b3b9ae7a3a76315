// The operators as C++ functions. Operators from text specs (eps/operators/registry.h) are made by
// the same functions.
#pragma once

#include "eps/math/sparse_matrix.h"
#include "eps/operators/border.h"
#include "eps/operators/operator.h"

namespace eps {

// Returns A = I, plain denoising.
Operator identity();

// Returns the operator that keeps the pixels where the mask is 1; y has the shape of x, with zeros
// in the holes.
// mask: (N or 1, C or 1, H, W), 0 and 1.
Operator inpainting(const Tensor& mask);

// Returns diag(w), the pixels times their weights; y has the shape of x.
// weights: (N or 1, 1, H, W), in [0, 1].
Operator soft_mask(const Tensor& weights);

// Returns the colour filter array of a pattern such as "rggb", the colours of the first 2 x 2
// pixels; y is (N, 1, H, W).
Operator bayer(const std::string& pattern,
               int64_t height,
               int64_t width,
               at::Device device = at::kCPU);

// Returns factor x factor average pooling; H and W must be multiples of factor.
Operator average_pool(int64_t factor);

// Returns the circular convolution with the kernel, whose origin is at index size/2. kernel: (N or
// 1, kh, kw).
Operator circular_blur(const Tensor& kernel, int64_t height, int64_t width);

// Returns the convolution with the kernel, whose origin is at index size/2, under any rule for the
// border. y of a valid blur is smaller than x by the kernel's size less 1. Kernels that are a
// product of a row and a column have a closed form under every border.
Operator blur(const Tensor& kernel, int64_t height, int64_t width, Border border);

// Returns the reduction of a picture (H, W) to a smaller one by a filter: box, bilinear, bicubic or
// lanczos. antialias: the filter is stretched by the factor, as in Pillow; otherwise it
// interpolates, as in OpenCV.
Operator downscale(const std::string& filter,
                   bool antialias,
                   std::pair<int64_t, int64_t> image,
                   std::pair<int64_t, int64_t> measurement,
                   at::Device device = at::kCPU);

// Returns a blur that varies over the picture: y = sum_i w_i (part_i x). weights: (parts, H', W')
// of the frame of y.
Operator varying_blur(const std::vector<Operator>& parts, const Tensor& weights);

// Returns circular_blur followed by average_pool, in closed form.
Operator blur_pool(const Tensor& kernel, int64_t height, int64_t width, int64_t factor);

// Returns the weighted sum of the channels. weights: (C).
Operator grey(const Tensor& weights);

// Returns the unitary 2-D Fourier transform of a real image at the frequencies where the mask is 1.
// Complex numbers are pairs: y is (N, C, H, W, 2). mask: (N or 1, H, W) in fft2 order (zero
// frequency first).
Operator subsampled_fourier(const Tensor& mask);

// Returns the orthonormal 2-D Walsh-Hadamard transform of the image times signs, where the mask is
// 1. H and W are powers of 2. mask and signs: (N or 1, H, W).
Operator subsampled_hadamard(const Tensor& mask, const Tensor& signs);

// Returns a dense matrix on the flattened image; y is (N, M). matrix: (N or 1, M, C*H*W).
Operator dense_matrix(const Tensor& matrix, const Shape& image);

// Returns a sparse matrix on the flattened image (C*H*W columns) or on each channel (H*W columns).
// y has the shape `measurement`, without the batch, of all its values.
Operator sparse_matrix(const SparseMatrix& matrix,
                       const Shape& image,
                       const Shape& measurement,
                       at::Device device = at::kCPU);

// Returns the matrix of parallel-beam tomography in pixels, (angles*detectors, H*W): the areas in
// which strips and pixels meet (eps/operators/radon.cc). `span`: the degrees that the angles cover.
SparseMatrix radon_matrix(
    int64_t angles, int64_t detectors, double span, int64_t height, int64_t width);
// Returns radon_matrix() / sqrt(angles max(H, W)) on each channel; y is (N, C, angles, detectors).
Operator radon(int64_t angles,
               int64_t detectors,
               double span,
               const Shape& image,
               at::Device device = at::kCPU);

// Returns the matrix on the channels of each pixel; y is (N, C', H, W). matrix: (C', C).
Operator mix(const Tensor& matrix);

// Returns Cartesian parallel MRI of a complex image, two channels (N, 2, H, W): the unitary Fourier
// transform of the image times each coil's map, where the mask is 1; y is (N, K, H, W, 2).
// maps: complex (K, H, W). mask: (N or 1, H, W) in fft2 order.
Operator sense(const Tensor& maps, const Tensor& mask);

// Returns the operator x -> second(first(x)).
Operator compose(Operator first, Operator second);

// Returns all measurements of one image, flattened and concatenated: y is (N, M). `like` has the
// shape and the device of the images.
Operator stack(const std::vector<Operator>& parts, const Tensor& like);

// These functions return kernels, each (kh, kw) in float64 with sum 1.
Tensor gaussian_kernel(double std, int64_t size);
// Draws a straight line of `length` points one pixel apart, centred, turned counter-clockwise by
// `angle` degrees; bilinear weights spread each point over its four pixels.
Tensor motion_kernel(int64_t length, double angle);
Tensor disk_kernel(double radius);

}  // namespace eps
