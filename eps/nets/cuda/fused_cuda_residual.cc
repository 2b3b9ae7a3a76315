// The residual sum at the end of a block, as a differentiable function of tensors.
#include <torch/csrc/autograd/custom_function.h>

#include "eps/nets/cuda/fused_cuda.h"
#include "eps/nets/cuda/fused_cuda_tensors.h"

namespace eps::nets {
namespace {

using namespace cuda;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void add_scaled(
    const Tensor& h, const Tensor& x, const Tensor& bias, double scale, const Tensor& y) {
  const c10::cuda::CUDAGuard guard(h.device());
  const Tensor shift = table_of(bias);
  residual_forward(images_of(h),
                   h.data_ptr(),
                   x.data_ptr(),
                   shift.defined() ? shift.data_ptr<float>() : nullptr,
                   static_cast<float>(scale),
                   y.data_ptr(),
                   at::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// Returns the distance of neighbouring pixels when dy is channels-last except for that distance, as
// a slice of the channels of a larger image is; 0 for any other layout.
int64_t pixel_stride(const Tensor& dy) {
  const int64_t stride = dy.stride(3);
  const bool regular = dy.stride(1) == 1 && dy.stride(2) == stride * dy.size(3) &&
                       dy.stride(0) == stride * dy.size(3) * dy.size(2) && stride >= dy.size(1);
  return regular && stride * dy.element_size() % 16 == 0 && is_aligned(dy) ? stride : 0;
}

// Returns the gradient of h and x, and that of the bias when it has a type.
std::pair<Tensor, Tensor> residual_gradients(Tensor dy,
                                             double scale,
                                             std::optional<at::ScalarType> bias) {
  const c10::cuda::CUDAGuard guard(dy.device());
  int64_t stride = pixel_stride(dy);
  if (stride == 0) {
    dy = image_gradient(dy, dy);
    stride = dy.size(1);
  }
  const Images shape = images_of(dy);
  const bool copied = scale != 1;
  const Tensor dx = copied ? at::empty(dy.sizes(), dy.options().memory_format(kLast)) : dy;
  const Tensor sums =
      bias ? at::empty({residual_sums(shape), dy.size(1)}, dy.options().dtype(at::kFloat))
           : Tensor();
  if (copied || bias) {
    residual_backward(shape,
                      dy.data_ptr(),
                      stride,
                      static_cast<float>(scale),
                      copied ? dx.data_ptr() : nullptr,
                      bias ? sums.data_ptr<float>() : nullptr,
                      at::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
  return {dx, bias ? sums.sum(0).to(*bias) : Tensor()};
}

struct Residual : torch::autograd::Function<Residual> {
  static Tensor forward(AutogradContext* context,
                        const Tensor& h,
                        const Tensor& x,
                        const MaybeTensor& bias,
                        double scale) {
    const Tensor y = at::empty_like(h, h.options().memory_format(kLast));
    add_scaled(h, x, or_none(bias), scale, y);
    context->saved_data["scale"] = scale;
    if (bias) context->saved_data["bias"] = static_cast<int64_t>(bias->scalar_type());
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    std::optional<at::ScalarType> bias;
    if (context->saved_data.count("bias") > 0) {
      bias = static_cast<at::ScalarType>(context->saved_data["bias"].toInt());
    }
    const auto [dx, dbias] =
        residual_gradients(dy[0], context->saved_data["scale"].toDouble(), bias);
    return {dx, dx, dbias, Tensor()};
  }
};

}  // namespace

Tensor cuda_residual(const Tensor& h, const Tensor& x, const Tensor& bias, double scale) {
  if (wants_gradients({h, x, bias})) return Residual::apply(h, x, maybe(bias), scale);
  add_scaled(h, x, bias, scale, h);
  return h;
}

}  // namespace eps::nets
