// Soft masks: each pixel has a weight w in [0, 1], and the noise sigma_y / w.
//
// Divided by its noise, such a measurement is y = w x + sigma_y n with white noise n: A = diag(w),
// and w = 0 is a hole. A'A = w^2 in the pixel basis.
#include "eps/operators/converted.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"
#include "eps/operators/smooth_field.h"

namespace eps {
namespace {

class SoftMask final : public LinearOperator, public Spectral {
 public:
  explicit SoftMask(const Tensor& weights) : weights_(weights), squares_(weights.square()) {}

  Tensor apply(const Tensor& x) const override { return x * weights(x); }
  Tensor adjoint(const Tensor& y) const override { return y * weights(y); }

  // w / (w^2 + lambda), and 0 in the holes.
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    const Tensor w = weights(r);
    return r * w * ridge_gain(squares_.like(r), lambda);
  }

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::pixel; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return x * f(squares_.like(x));
  }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return f(squares_.like(like));
  }

  Tensor measured(const Tensor& y) const override { return y * (weights(y) > 0); }
  std::map<std::string, Tensor> parameters() const override {
    return {{"weights", weights_.exact().squeeze(1)}};
  }
  int64_t batch() const override { return weights_.exact().size(0); }

 private:
  Tensor weights(const Tensor& like) const {
    check_image_size("soft_mask", like, weights_.exact().size(2), weights_.exact().size(3));
    return weights_.like(like);
  }

  const Converted weights_;  // (N or 1, 1, H, W)
  const Converted squares_;
};

// Draws smooth weights: white noise blurred by a Gaussian to a standard normal field, whose
// distribution function is uniform in [0, 1]; its lowest part is `missing`, the rest rises from 0
// to 1.
Tensor draw_weights(const Spec& spec, const Tensor& like, Rng& rng) {
  const Tensor missing = draw_in(spec.range("missing"), like, rng);
  const Tensor std = draw_in(spec.range("smooth"), like, rng);
  const Tensor uniform = at::special_ndtr(draw_smooth_field(std, like, rng));
  return ((uniform - missing) / (1 - missing)).clamp(0, 1);
}

Operator make_soft_mask(const Spec& spec, const Tensor& like, Rng& rng) {
  return soft_mask(spec.has("file") ? read_weights_file(spec.text("file"), like).unsqueeze(1)
                                    : draw_weights(spec, like, rng).to(like.device()));
}

// A user's picture is x + sigma_y n / w; w times it is the operator's measurement.
Tensor weigh(const Spec& spec, const Tensor& y) {
  return spec.has("file") ? y * read_weights_file(spec.text("file"), y).unsqueeze(1) : y;
}

EPS_OPERATOR(
    {.name = "soft_mask",
     .summary = "each pixel has a weight w in [0, 1] and the noise sigma_y / w",
     .example = "soft_mask:smooth=2,missing=0.2",
     .fields = {{"file",
                 "",
                 "weights: PNG, JPEG (white is 1), .npy or .safetensors; H x W, or N x H x W"},
                Field::range("smooth",
                             "4",
                             {0, 1e6},
                             "without a file: smooth random weights, blurred by so many pixels; "
                             "a..b draws one per image"),
                Field::range("missing",
                             "0.3",
                             {0, 0.999},
                             "without a file: fraction of weights 0; a..b draws one per image")},
     .strengths = {"missing"},
     .make = make_soft_mask,
     .is_random = [](const Spec& spec) { return !spec.has("file"); },
     .whiten = weigh});

}  // namespace

Operator soft_mask(const Tensor& weights) {
  check(weights.dim() == 4 && weights.size(1) == 1,
        "soft_mask: the weights must be N x 1 x H x W, got ",
        to_string(weights.sizes()));
  const Tensor wide = weights.to(at::kDouble);
  check(at::logical_and(wide >= 0, wide <= 1).all().item<bool>(),
        "soft_mask: weights are in [0, 1], found ",
        wide.min().item<double>(),
        " to ",
        wide.max().item<double>());
  return std::make_shared<SoftMask>(wide);
}

}  // namespace eps
