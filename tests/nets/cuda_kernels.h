// Tests of the CUDA kernels: skipped without a CUDA device, or where the library has no kernels.
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
    // float32 convolutions and products in float32, to compare with the CPU's.
    at::globalContext().setAllowTF32CuDNN(false);
    at::globalContext().setAllowTF32CuBLAS(false);
  }
};

}  // namespace eps::nets
