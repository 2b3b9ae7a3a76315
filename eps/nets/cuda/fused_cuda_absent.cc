// The functions of a library built without a CUDA compiler, in which CUDA tensors use ATen.
#include "eps/nets/cuda/fused_cuda.h"

namespace eps::nets {

bool has_cuda_kernels() { return false; }

bool can_fuse_on_cuda(const Tensor&) { return false; }

Tensor cuda_norm(const FusedNorm&, const Tensor&, const CudaDropout&) {
  fail("cuda_norm: this library was built without CUDA kernels");
}

Tensor cuda_residual(const Tensor&, const Tensor&, const Tensor&, double) {
  fail("cuda_residual: this library was built without CUDA kernels");
}

}  // namespace eps::nets
