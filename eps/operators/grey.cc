// Colour to grey: a weighted sum of the channels. A A' = |w|^2 I.
#include "eps/operators.h"
#include "eps/operators/isometry.h"
#include "eps/task.h"

namespace eps {
namespace {

class Grey final : public Isometry {
 public:
  explicit Grey(const Tensor& weights)
      : Isometry(weights.square().sum().item<double>(),
                 (weights.square() / weights.square().sum()).reshape({1, -1, 1, 1})),
        weights_(weights.reshape({1, -1, 1, 1})) {}

  Tensor apply(const Tensor& x) const override {
    check(x.size(1) == weights_.size(1),
          "grey: the image has ",
          x.size(1),
          " channels, the weights ",
          weights_.size(1));
    return (x * weights_.to(x.options())).sum(1, true);
  }
  Tensor adjoint(const Tensor& y) const override { return y * weights_.to(y.options()); }
  Tensor picture(const Tensor& y) const override {
    return y.expand({-1, weights_.size(1), -1, -1});
  }

 private:
  const Tensor weights_;
};

Operator make(const Spec& spec, const Tensor& like, Rng&) {
  const std::string kind = spec.text("weights");
  const int64_t channels = like.size(1);
  if (kind == "mean")
    return grey(at::full(
        {channels}, 1.0 / static_cast<double>(channels), like.options().dtype(at::kDouble)));
  check(kind == "luma", "grey: weights=", kind, " is neither mean nor luma");
  check(channels == 3, "grey: weights=luma wants 3 channels, the image has ", channels);
  return grey(at::tensor({0.299, 0.587, 0.114}, like.options().dtype(at::kDouble)));
}

EPS_OPERATOR({.name = "grey",
              .summary = "colour to grey: one channel, the weighted sum of all",
              .example = "grey",
              .fields = {{"weights", "mean", "mean (1/C each) or luma (0.299, 0.587, 0.114)"}},
              .make = make,
              // How many channels there were, a grey image does not tell: colour is meant.
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
  return std::make_shared<Grey>(weights.to(at::kDouble));
}

}  // namespace eps
