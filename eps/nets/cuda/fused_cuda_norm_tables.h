// The tables of a norm in the form of the CUDA kernels, and their gradients.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "eps/nets/cuda/fused_cuda.h"
#include "eps/nets/cuda/fused_cuda_tensors.h"

namespace eps::nets::cuda {

inline ImageTable image_table_of(const Tensor& table) {
  if (!table.defined()) return {};
  return {table.data_ptr<float>(), table.size(0) == 1 ? 0 : table.size(1)};
}

// Returns the kernels' form of a norm whose tables come from with_tables().
inline cuda::Norm kernel_norm(const FusedNorm& norm) {
  return {static_cast<int>(norm.groups),
          static_cast<float>(norm.eps),
          {norm.weight.data_ptr(), scalar_of(norm.weight)},
          {norm.bias.data_ptr(), scalar_of(norm.bias)},
          image_table_of(norm.offset),
          image_table_of(norm.modulation),
          norm.silu};
}

inline FusedNorm with_tables(FusedNorm norm) {
  norm.weight = norm.weight.contiguous();
  norm.bias = norm.bias.contiguous();
  norm.offset = table_of(norm.offset);
  norm.modulation = table_of(norm.modulation);
  return norm;
}

// Returns the gradient of a table with one row for each image, or one row for all images.
inline Tensor table_gradient(const Tensor& gradient, const Tensor& table) {
  if (!table.defined()) return {};
  const Tensor rows = table.size(0) == gradient.size(0) ? gradient : gradient.sum(0, true);
  return rows.to(table.scalar_type());
}

// A `TableGradients` holds memory for the gradients of a norm's tables, one row for each image.
class TableGradients {
 public:
  TableGradients(const FusedNorm& norm, const Tensor& x)
      : parameters_(rows(x, {2, x.size(0), x.size(1)})),
        offset_(norm.offset.defined() ? rows(x, {x.size(0), x.size(1)}) : Tensor()),
        modulation_(norm.modulation.defined() ? rows(x, {x.size(0), 2 * x.size(1)}) : Tensor()) {}

  NormGradients kernel() const {
    const auto data = [](const Tensor& table) {
      return table.defined() ? table.data_ptr<float>() : nullptr;
    };
    return {data(parameters_), data(parameters_[1]), data(offset_), data(modulation_)};
  }

  // Returns the gradients of x, weight, bias, offset and modulation, in the types of these.
  torch::autograd::variable_list joined(const Tensor& dx, const FusedNorm& given) const {
    const Tensor sums = parameters_.sum(1);
    return {dx,
            sums[0].to(given.weight.scalar_type()),
            sums[1].to(given.bias.scalar_type()),
            table_gradient(offset_, given.offset),
            table_gradient(modulation_, given.modulation)};
  }

 private:
  static Tensor rows(const Tensor& x, at::IntArrayRef shape) {
    return at::empty(shape,
                     x.options().dtype(at::kFloat).memory_format(at::MemoryFormat::Contiguous));
  }

  Tensor parameters_, offset_, modulation_;
};

// Computes cuda_norm() for the norm of pixels.
Tensor cuda_pixel_norm(const FusedNorm& norm, const Tensor& x);

}  // namespace eps::nets::cuda
