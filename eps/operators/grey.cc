// Colour to grey: a weighted sum of the channels. A A' = |w|^2 I.
#include "eps/operators/factories.h"
#include "eps/operators/isometry.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class Grey final : public Isometry {
 public:
  explicit Grey(const Tensor& weights)
      : Isometry(weights.square().sum().item<double>(),
                 (weights.square() / weights.square().sum()).reshape({1, -1, 1, 1})),
        weights_(weights.data_ptr<double>(), weights.data_ptr<double>() + weights.numel()) {}

  Tensor apply(const Tensor& x) const override {
    check(x.size(1) == channels(),
          "grey: the image has ",
          x.size(1),
          " channels, the weights ",
          channels());
    Tensor sum = x.slice(1, 0, 1) * weights_[0];
    for (int64_t c = 1; c < channels(); ++c)
      sum = sum + x.slice(1, c, c + 1) * weights_[static_cast<size_t>(c)];
    return sum;
  }
  Tensor adjoint(const Tensor& y) const override {
    std::vector<Tensor> parts;
    for (const double weight : weights_) parts.push_back(y * weight);
    return at::cat(parts, 1);
  }
  Tensor picture(const Tensor& y) const override { return y.expand({-1, channels(), -1, -1}); }

 private:
  int64_t channels() const { return static_cast<int64_t>(weights_.size()); }

  const std::vector<double> weights_;  // on the host, so that nothing waits for a GPU
};

Operator make_grey(const Spec& spec, const Tensor& like, Rng&) {
  const std::string kind = spec.text("weights");
  const int64_t channels = like.size(1);
  if (kind == "mean")
    return grey(at::full({channels}, 1.0 / static_cast<double>(channels), at::kDouble));
  check(channels == 3, "grey: weights=luma needs 3 channels, the image has ", channels);
  return grey(at::tensor({0.299, 0.587, 0.114}, at::kDouble));
}

EPS_OPERATOR({.name = "grey",
              .summary = "colour to grey: one channel, the weighted sum of all",
              .example = "grey",
              .fields = {Field::choice("weights",
                                       "mean",
                                       {"mean", "luma"},
                                       "mean: 1/C each; luma: 0.299, 0.587, 0.114")},
              .make = make_grey,
              .mixes_channels = true,
              // A grey image does not determine the number of channels of x: three, colour, are
              // assumed.
              .image_shape = [](const Spec&, const Shape& y) {
                check(y.size() == 4, "grey: a measurement is N x 1 x H x W, got ", to_string(y));
                return Shape{y[0], 3, y[2], y[3]};
              }});

}  // namespace

Operator grey(const Tensor& weights) {
  check(weights.dim() == 1 && weights.numel() > 0,
        "grey: weights must be a vector, got ",
        to_string(weights.sizes()));
  check(weights.square().sum().item<double>() > 0, "grey: the weights must not all be 0");
  return std::make_shared<Grey>(weights.to(at::kCPU, at::kDouble).contiguous());
}

}  // namespace eps
