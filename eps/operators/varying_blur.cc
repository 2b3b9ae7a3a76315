// A blur that varies over the picture: a sum of blurs, each with a weight for every pixel of y.
#include "eps/operators/border.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class VaryingBlur final : public LinearOperator {
 public:
  VaryingBlur(std::vector<Operator> parts, const Tensor& weights)
      : parts_(std::move(parts)), weights_(weights.to(at::kDouble)) {}

  Tensor apply(const Tensor& x) const override {
    Tensor sum;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Tensor part = parts_[i]->apply(x) * weight(i, x);
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  }
  Tensor adjoint(const Tensor& y) const override {
    Tensor sum;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Tensor part = parts_[i]->adjoint(y * weight(i, y));
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  }
  Tensor picture(const Tensor& y) const override { return parts_[0]->format().picture(y); }
  std::map<std::string, Tensor> parameters() const override {
    return {{"weights", weights_.unsqueeze(0)}};
  }

 private:
  Tensor weight(size_t i, const Tensor& like) const {
    return weights_[static_cast<int64_t>(i)].to(like.options());
  }

  const std::vector<Operator> parts_;
  const Tensor weights_;  // (parts, H', W')
};

// Returns weights (kernels, H, W) that go from the first kernel at the centre to the last in the
// corners, linear in the distance.
Tensor radial_weights(int64_t kernels, int64_t height, int64_t width) {
  const auto from_centre = [](int64_t n) {
    return (at::arange(n, at::kDouble) + 0.5) / (0.5 * static_cast<double>(n)) - 1;
  };
  const Tensor rows = from_centre(height).unsqueeze(1), columns = from_centre(width);
  const Tensor distance = ((rows.square() + columns.square()) / 2).sqrt().clamp_max(1);
  const Tensor place = distance * static_cast<double>(kernels - 1);
  const Tensor index = at::arange(kernels, at::kDouble).reshape({-1, 1, 1});
  return (1 - (place - index).abs()).clamp_min(0);
}

// Returns the kernels of a spec, (K, kh, kw).
Tensor varying_kernels(const Spec& spec) {
  if (spec.has("file")) return read_stack_file(spec.text("file"));
  constexpr int64_t kKernels = 4;
  const Range stds = spec.range("std");
  std::vector<Tensor> kernels;
  for (int64_t i = 0; i < kKernels; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(kKernels - 1);
    kernels.push_back(
        gaussian_kernel(stds.low + (stds.high - stds.low) * place, spec.integer("size")));
  }
  return at::stack(kernels);
}

Operator make_varying(const Spec& spec, const Tensor& like, Rng&) {
  check(spec.has("file") == spec.has("weights_file"),
        "blur_varying: file and weights_file are wanted together, or neither");
  const int64_t height = like.size(2), width = like.size(3);
  if (!spec.has("file")) check_kernel_fits(spec.integer("size"), height, width);
  const Tensor kernels = varying_kernels(spec);
  std::vector<Operator> parts;
  for (const Tensor& kernel : kernels.split(1))
    parts.push_back(blur(kernel.to(like.device()), height, width, border_of(spec)));
  const Shape frame = parts[0]->apply(like.slice(0, 0, 1).to(at::kDouble)).sizes().vec();
  const Tensor weights = spec.has("weights_file")
                             ? read_stack_file(spec.text("weights_file"))
                             : radial_weights(kernels.size(0), frame[2], frame[3]);
  check(weights.size(1) == frame[2] && weights.size(2) == frame[3],
        "blur_varying: weights of ",
        to_string(weights.sizes()),
        "; the measurement is ",
        frame[2],
        " x ",
        frame[3]);
  return varying_blur(parts, weights.to(like.device()));
}

EPS_OPERATOR(
    {.name = "blur_varying",
     .summary = "a blur that varies over the picture: kernels, and their weights in each pixel",
     .example = "blur_varying:std=0.5..1,size=5",
     .fields = {Field::range("std",
                             "0.5..2",
                             at_least(1e-3),
                             "of Gaussian kernels, at the centre .. in the corners"),
                Field::integer("size", "11", at_least(1), "size of the Gaussian kernels, pixels"),
                {"file", "", "kernels instead, K x kh x kw: .npy or .safetensors"},
                {"weights_file",
                 "",
                 "their weights, K x H x W of the measurement: .npy, .safetensors"},
                border_field()},
     .strengths = {"std"},
     .make = make_varying,
     .kind = "gaussian_blur",
     .image_shape = [](const Spec& spec, const Shape& y) {
       check(y.size() == 4, "blur_varying: a measurement is N x C x H x W, got ", to_string(y));
       const bool valid = border_of(spec) == Border::valid;
       const Tensor kernels = valid ? varying_kernels(spec) : at::empty({1, 1, 1});
       return Shape{y[0], y[1], y[2] + kernels.size(1) - 1, y[3] + kernels.size(2) - 1};
     }});

}  // namespace

Operator varying_blur(const std::vector<Operator>& parts, const Tensor& weights) {
  check(
      weights.dim() == 3 && !parts.empty() && weights.size(0) == static_cast<int64_t>(parts.size()),
      "varying blur: as many weights as kernels are wanted, K x H x W, got ",
      to_string(weights.sizes()),
      " for ",
      parts.size(),
      " kernels");
  return std::make_shared<VaryingBlur>(parts, weights);
}

}  // namespace eps
