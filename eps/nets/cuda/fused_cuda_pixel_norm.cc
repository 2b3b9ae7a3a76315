// The norm over the channels of each pixel, as a differentiable function of tensors.
#include "eps/nets/cuda/fused_cuda_norm_tables.h"

namespace eps::nets::cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A `NormalisedPixels` holds the output and, for the backward pass, the factor of each pixel (N, H
// W), or nothing.
struct NormalisedPixels {
  Tensor y, rstd;
};

NormalisedPixels normalise_pixels(const FusedNorm& given, const Tensor& x, bool gradients) {
  const c10::cuda::CUDAGuard guard(x.device());
  const FusedNorm norm = with_tables(given);
  const Tensor y = at::empty_like(x, x.options().memory_format(kLast));
  const Tensor rstd =
      gradients ? at::empty({x.size(0), x.size(2) * x.size(3)}, x.options().dtype(at::kFloat))
                : Tensor();
  pixel_norm_forward(images_of(x),
                     kernel_norm(norm),
                     x.data_ptr(),
                     gradients ? rstd.data_ptr<float>() : nullptr,
                     y.data_ptr(),
                     at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {y, rstd};
}

// Returns the gradients of x, weight, bias, offset and modulation.
variable_list pixel_norm_gradients(const FusedNorm& given,
                                   const Tensor& x,
                                   const Tensor& rstd,
                                   const Tensor& dy) {
  const c10::cuda::CUDAGuard guard(x.device());
  const FusedNorm norm = with_tables(given);
  const Tensor dx = at::empty_like(x, x.options().memory_format(kLast));
  const TableGradients tables(norm, x);
  const Tensor scratch =
      at::empty({pixel_norm_scratch(images_of(x))}, x.options().dtype(at::kFloat));
  pixel_norm_backward(images_of(x),
                      kernel_norm(norm),
                      x.data_ptr(),
                      dy.data_ptr(),
                      rstd.data_ptr<float>(),
                      scratch.data_ptr<float>(),
                      tables.kernel(),
                      dx.data_ptr(),
                      at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return tables.joined(dx, given);
}

struct PixelNormFunction : torch::autograd::Function<PixelNormFunction> {
  static Tensor forward(AutogradContext* context,
                        const Tensor& x,
                        const Tensor& weight,
                        const Tensor& bias,
                        const MaybeTensor& offset,
                        const MaybeTensor& modulation,
                        double eps,
                        bool silu) {
    const FusedNorm norm{0, eps, weight, bias, or_none(offset), or_none(modulation), silu};
    const NormalisedPixels answer = normalise_pixels(norm, x, true);
    context->save_for_backward({x, weight, bias, norm.offset, norm.modulation, answer.rstd});
    context->saved_data["eps"] = eps;
    context->saved_data["silu"] = silu;
    return answer.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    const variable_list saved = context->get_saved_variables();
    const FusedNorm norm{0,
                         context->saved_data["eps"].toDouble(),
                         saved[1],
                         saved[2],
                         saved[3],
                         saved[4],
                         context->saved_data["silu"].toBool()};
    const Tensor& x = saved[0];
    variable_list gradients = pixel_norm_gradients(norm, x, saved[5], image_gradient(dy[0], x));
    gradients.resize(7);
    return gradients;
  }
};

}  // namespace

Tensor cuda_pixel_norm(const FusedNorm& norm, const Tensor& x) {
  const bool gradients = wants_gradients({x, norm.weight, norm.bias, norm.offset, norm.modulation});
  if (!gradients) return normalise_pixels(norm, x, false).y;
  return PixelNormFunction::apply(
      x, norm.weight, norm.bias, maybe(norm.offset), maybe(norm.modulation), norm.eps, norm.silu);
}

}  // namespace eps::nets::cuda
