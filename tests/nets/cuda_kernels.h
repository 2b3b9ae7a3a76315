// A fixture for tests of the CUDA kernels, which skips them without a CUDA device or kernels.
#pragma once

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "eps/nets/cuda/fused_cuda.h"

namespace eps::nets {

class CudaKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
    if (!has_cuda_kernels()) GTEST_SKIP() << "the library was built without CUDA kernels";
    // Convolutions and products of float32 avoid TF32, for comparison with the CPU.
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
  }
};

}  // namespace eps::nets
