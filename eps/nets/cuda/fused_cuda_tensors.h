// Shapes, types and layouts for the functions of tensors that call the CUDA kernels.
#pragma once

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "eps/base/core.h"
#include "eps/nets/cuda/fused_cuda_kernels.h"

namespace eps::nets::cuda {

using MaybeTensor = std::optional<Tensor>;

constexpr auto kLast = at::MemoryFormat::ChannelsLast;

inline Scalar scalar_of(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return Scalar::float32;
    case at::kHalf:
      return Scalar::float16;
    case at::kBFloat16:
      return Scalar::bfloat16;
    default:
      fail("CUDA kernels: float32, float16 or bfloat16 is wanted, got ", tensor.scalar_type());
  }
}

inline bool has_type(const Tensor& tensor) {
  const auto type = tensor.scalar_type();
  return type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
}

inline Images images_of(const Tensor& x) {
  return {scalar_of(x),
          static_cast<int>(x.size(0)),
          static_cast<int>(x.size(2) * x.size(3)),
          static_cast<int>(x.size(1))};
}

inline bool is_aligned(const Tensor& x) {
  return reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}

inline MaybeTensor maybe(const Tensor& tensor) {
  return tensor.defined() ? MaybeTensor(tensor) : std::nullopt;
}

inline Tensor or_none(const MaybeTensor& tensor) { return tensor ? *tensor : Tensor(); }

// Returns contiguous rows of float32; float32 tables of the network already are.
inline Tensor table_of(const Tensor& table) {
  return table.defined() ? table.to(at::kFloat).contiguous() : table;
}

// Returns dy in the layout of the kernels; autograd may pass any layout.
inline Tensor image_gradient(const Tensor& dy, const Tensor& like) {
  const Tensor typed = dy.to(like.scalar_type());
  const Tensor dense = typed.contiguous(kLast);
  return is_aligned(dense) ? dense : dense.clone();
}

inline bool wants_gradients(std::initializer_list<Tensor> tensors) {
  if (!c10::GradMode::is_enabled()) return false;
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.defined() && tensor.requires_grad();
  });
}

}  // namespace eps::nets::cuda
