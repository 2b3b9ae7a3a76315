// Blur, then average pooling: A = P H. A A' is a circular convolution on the small grid.
//
// Pooling is a box blur (transfer b) followed by taking every s-th pixel, so A A' is diagonal in
// the small Fourier basis, its eigenvalue g(k) the mean of |h b|^2 over the s^2 frequencies that
// alias to k. Hence ridge(r) = A' (g + lambda)^{-1} r: one small transform each way, and no
// division by lambda.
#include "eps/math/spectrum.h"
#include "eps/operators/blur.h"
#include "eps/operators/factories.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class BlurPool final : public LinearOperator, public Spectral {
 public:
  BlurPool(const Tensor& kernel, int64_t height, int64_t width, int64_t factor)
      : blur_(kernel, height, width), pool_(average_pool(factor)) {
    // A' maps the unit impulse of the small image to its row of A; A then gives the kernel of A A'.
    const Tensor impulse =
        unit_impulse(height / factor, width / factor, kernel.options().dtype(at::kDouble));
    gram_ = at::real(at::fft_rfft2(apply(adjoint(impulse)))).clamp_min(0);
    gram_ = gram_.masked_fill(gram_ <= 1e-14 * gram_.amax({-2, -1}, true), 0);
  }

  Tensor apply(const Tensor& x) const override { return pool_->apply(blur_.apply(x)); }
  Tensor adjoint(const Tensor& y) const override { return blur_.adjoint(pool_->adjoint(y)); }

  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    const Tensor g = gram_.to(r.options());
    return adjoint(filter_spectrum(r, ridge_gain(g, lambda)));
  }

  // f(A'A) = f(0) I + A' q(AA') A with q(g) = (f(g) - f(0)) / g.
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const Tensor g = gram_.to(x.options());
    const Tensor at_zero = f(at::zeros({1, 1, 1, 1}, x.options()));
    const Tensor q = (f(g) - at_zero) * ridge_gain(g, scalar(0));
    return at_zero * x + adjoint(filter_spectrum(apply(x), q));
  }

  // f(A'A) repeats itself with the period of the pooling, so one impulse for each place in a block
  // suffices.
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    const int64_t height = blur_.height(), width = blur_.width();
    const int64_t s = height / gram_.size(2);
    const Tensor impulse = unit_impulse(height, width, like.options());
    std::vector<Tensor> values;
    for (int64_t i = 0; i < s; ++i)
      for (int64_t j = 0; j < s; ++j) {
        const Tensor answer = filter(at::roll(impulse, {i, j}, {2, 3}), f);
        values.push_back(answer.slice(2, i, i + 1).slice(3, j, j + 1));
      }
    const Tensor block = at::cat(values, 3);  // (N or 1, 1, 1, s * s)
    return block.reshape({block.size(0), 1, s, s}).repeat({1, 1, height / s, width / s});
  }

  Tensor picture(const Tensor& y) const override { return pool_->format().picture(y); }
  std::map<std::string, Tensor> parameters() const override { return blur_.parameters(); }
  int64_t batch() const override { return blur_.batch(); }

 private:
  const CircularBlur blur_;
  const Operator pool_;
  Tensor gram_;  // eigenvalues of A A', (N or 1, 1, H/s, W/s/2 + 1)
};

Operator make_blur_pool(const Spec& spec, const Tensor& like, Rng& rng) {
  return blur_pool(gaussian_kernels(spec, like, rng).to(like.device()),
                   like.size(2),
                   like.size(3),
                   spec.integer("factor"));
}

EPS_OPERATOR(
    {.name = "blur_pool",
     .summary = "Gaussian blur, then average pooling (also: any blur | super_resolution)",
     .example = "blur_pool:std=1,size=7,factor=2",
     .fields =
         {Field::range(
              "std", "1", at_least(1e-3), "standard deviation in pixels; a..b draws one per image"),
          Field::integer("size", "11", at_least(1), "kernel size in pixels"),
          Field::integer("factor", "4", {1, 1 << 20}, "block size; must divide height and width")},
     .strengths = {"std", "factor"},
     .make = make_blur_pool,
     .kind = "pooling",
     .image_shape =
         [](const Spec& spec, const Shape& y) {
           return image_shape_of("super_resolution:factor=" + spec.text("factor"), y);
         },
     .is_random = random_ranges({"std"})});

}  // namespace

Operator blur_pool(const Tensor& kernel, int64_t height, int64_t width, int64_t factor) {
  check(factor >= 1 && height % factor == 0 && width % factor == 0,
        "blur_pool: factor=",
        factor,
        " does not divide an image of ",
        height,
        " x ",
        width,
        " pixels");
  return std::make_shared<BlurPool>(kernel, height, width, factor);
}

}  // namespace eps
