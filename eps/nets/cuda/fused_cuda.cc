// Group norm fused with the operations around it, as a differentiable function of tensors.
#include "eps/nets/cuda/fused_cuda.h"

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "eps/nets/cuda/fused_cuda_norm_tables.h"

namespace eps::nets {
namespace {

using namespace cuda;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Returns pointers to the five tables of a tensor (5, N, C).
ChannelAffine affine_of(const Tensor& affine) {
  float* first = affine.data_ptr<float>();
  const int64_t size = affine.size(1) * affine.size(2);
  return {first, first + size, first + 2 * size, first + 3 * size, first + 4 * size};
}

Tensor scratch_for(const Tensor& x) {
  return at::empty({norm_scratch(images_of(x))}, x.options().dtype(at::kFloat));
}

// Returns the generator's next seed and offset; during the capture of a graph, the addresses that a
// replay reads.
PhiloxState draw(const at::Generator& generator) {
  auto* device = at::check_generator<at::CUDAGeneratorImpl>(generator);
  const std::lock_guard<std::mutex> lock(device->mutex_);
  const at::PhiloxCudaState state = device->philox_cuda_state(kDropoutDraws);
  if (!state.captured_) return {.seed = state.seed_.val, .offset = state.offset_.val};
  return {.offset = state.offset_intragraph_,
          .seed_at = state.seed_.ptr,
          .offset_at = state.offset_.ptr};
}

Dropout kernel_dropout(double keep, const Tensor& kept) {
  return {.keep = static_cast<float>(keep),
          .random = {},
          .kept = kept.defined() ? kept.data_ptr<uint8_t>() : nullptr};
}

// A `Normalised` holds the output and, for the backward pass, the affine map of each channel (5, N,
// C) and the mask of dropout, or nothing.
struct Normalised {
  Tensor y, affine, kept;
};

Normalised normalise(const FusedNorm& norm,
                     const Tensor& x,
                     const CudaDropout& dropout,
                     bool gradients) {
  const c10::cuda::CUDAGuard guard(x.device());
  const bool drops = dropout.keep < 1;
  const Tensor kept = drops && gradients ? at::empty({x.numel() * x.element_size() / 16},
                                                     x.options().dtype(at::kByte))
                                         : Tensor();
  Dropout kernel = kernel_dropout(dropout.keep, kept);
  if (drops) kernel.random = draw(dropout.generator);
  const Tensor y = at::empty_like(x, x.options().memory_format(kLast));
  const Tensor affine = at::empty({5, x.size(0), x.size(1)}, x.options().dtype(at::kFloat));
  const Tensor scratch = scratch_for(x);
  norm_forward(images_of(x),
               kernel_norm(norm),
               kernel,
               x.data_ptr(),
               scratch.data_ptr<float>(),
               affine_of(affine),
               y.data_ptr(),
               at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {y, affine, kept};
}

// Returns the gradients of x, weight, bias, offset and modulation.
variable_list norm_gradients(const FusedNorm& given,
                             const Dropout& dropout,
                             const Tensor& x,
                             const Tensor& affine,
                             const Tensor& dy) {
  const c10::cuda::CUDAGuard guard(x.device());
  const FusedNorm norm = with_tables(given);
  const Tensor dx = at::empty_like(x, x.options().memory_format(kLast));
  const TableGradients tables(norm, x);
  const Tensor scratch = scratch_for(x);
  norm_backward(images_of(x),
                kernel_norm(norm),
                dropout,
                x.data_ptr(),
                dy.data_ptr(),
                affine_of(affine),
                scratch.data_ptr<float>(),
                tables.kernel(),
                dx.data_ptr(),
                at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return tables.joined(dx, given);
}

struct NormFunction : torch::autograd::Function<NormFunction> {
  static Tensor forward(AutogradContext* context,
                        const Tensor& x,
                        const Tensor& weight,
                        const Tensor& bias,
                        const MaybeTensor& offset,
                        const MaybeTensor& modulation,
                        int64_t groups,
                        double eps,
                        bool silu,
                        double keep,
                        const at::Generator& generator) {
    const FusedNorm norm{groups, eps, weight, bias, or_none(offset), or_none(modulation), silu};
    const Normalised answer =
        normalise(with_tables(norm), x, {.keep = keep, .generator = generator}, true);
    context->save_for_backward(
        {x, weight, bias, norm.offset, norm.modulation, answer.affine, answer.kept});
    context->saved_data["groups"] = groups;
    context->saved_data["eps"] = eps;
    context->saved_data["silu"] = silu;
    context->saved_data["keep"] = keep;
    return answer.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    const variable_list saved = context->get_saved_variables();
    const FusedNorm norm{context->saved_data["groups"].toInt(),
                         context->saved_data["eps"].toDouble(),
                         saved[1],
                         saved[2],
                         saved[3],
                         saved[4],
                         context->saved_data["silu"].toBool()};
    const Tensor& x = saved[0];
    const Dropout dropout = kernel_dropout(context->saved_data["keep"].toDouble(), saved[6]);
    variable_list gradients = norm_gradients(norm, dropout, x, saved[5], image_gradient(dy[0], x));
    gradients.resize(10);
    return gradients;
  }
};

}  // namespace

bool has_cuda_kernels() { return true; }

bool can_fuse_on_cuda(const Tensor& x) {
  if (!x.is_cuda() || x.dim() != 4 || !has_type(x) || !x.is_contiguous(kLast)) return false;
  const bool countable = x.size(0) * x.size(2) * x.size(3) < std::numeric_limits<int>::max();
  return countable && supported(images_of(x)) && is_aligned(x);
}

Tensor cuda_norm(const FusedNorm& norm, const Tensor& x, const CudaDropout& dropout) {
  check(norm.silu || dropout.keep == 1, "cuda_norm: dropout is only offered after silu");
  if (norm.groups == 0) {
    check(dropout.keep == 1, "cuda_norm: the norm of pixels has no dropout");
    return cuda_pixel_norm(norm, x);
  }
  const bool gradients = wants_gradients({x, norm.weight, norm.bias, norm.offset, norm.modulation});
  if (!gradients) return normalise(with_tables(norm), x, dropout, false).y;
  return NormFunction::apply(x,
                             norm.weight,
                             norm.bias,
                             maybe(norm.offset),
                             maybe(norm.modulation),
                             norm.groups,
                             norm.eps,
                             norm.silu,
                             dropout.keep,
                             dropout.generator);
}

}  // namespace eps::nets
