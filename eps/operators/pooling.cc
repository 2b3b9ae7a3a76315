// Super-resolution: s x s average pooling.
#include "eps/operators/pooling.h"

#include "eps/math/kernels/kernels.h"
#include "eps/operators/factories.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

void check_divides(int64_t factor, const Tensor& x) {
  check(x.size(2) % factor == 0 && x.size(3) % factor == 0,
        "super_resolution: factor=",
        factor,
        " does not divide an image of ",
        x.size(2),
        " x ",
        x.size(3),
        " pixels");
}

int64_t factor_of(const Spec& spec) { return spec.integer("factor"); }

Operator make_pooling(const Spec& spec, const Tensor& like, Rng&) {
  check_divides(factor_of(spec), like);
  return average_pool(factor_of(spec));
}

EPS_OPERATOR({.name = "super_resolution",
              .summary = "average pooling over factor x factor blocks",
              .example = "super_resolution:factor=4",
              .fields = {Field::integer(
                  "factor", "4", {1, 1 << 20}, "block size; must divide height and width")},
              .strengths = {"factor"},
              .make = make_pooling,
              .kind = "pooling",
              .image_shape = [](const Spec& spec, const Shape& y) {
                check(y.size() == 4,
                      "super_resolution: a measurement is N x C x H x W, got ",
                      to_string(y));
                return Shape{y[0], y[1], y[2] * factor_of(spec), y[3] * factor_of(spec)};
              }});

}  // namespace

AveragePool::AveragePool(int64_t factor)
    : Isometry(1.0 / static_cast<double>(factor * factor),
               scalar(1.0 / static_cast<double>(factor * factor))),
      s_(factor) {}

Tensor AveragePool::apply(const Tensor& x) const {
  check_divides(s_, x);
  return at::avg_pool2d(x, s_);
}

Tensor AveragePool::adjoint(const Tensor& y) const {
  return picture(y / static_cast<double>(s_ * s_));
}

Tensor AveragePool::picture(const Tensor& y) const {
  const int64_t h = y.size(2), w = y.size(3);
  return y.reshape({y.size(0), y.size(1), h, 1, w, 1})
      .expand({-1, -1, h, s_, w, s_})
      .reshape({y.size(0), y.size(1), h * s_, w * s_});
}

Tensor AveragePool::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  if (kernels::plain(z, y, lambda, 1)) {
    check_divides(s_, z);
    check(y.size(1) == z.size(1) && y.size(2) == z.size(2) / s_ && y.size(3) == z.size(3) / s_,
          "super_resolution: a measurement of ",
          to_string(y.sizes()),
          " does not fit an image of ",
          to_string(z.sizes()));
    return kernels::pool_proximal(z, y, s_, kernels::values(lambda));
  }
  // z + up(y - pool(z)) / (1 + s^2 lambda)
  const Tensor correction =
      (y - apply(z)) / (1 + static_cast<double>(s_ * s_) * per_sample(lambda, y));
  return picture(correction).add(z);  // a picture of one pixel shares its memory
}

Operator average_pool(int64_t factor) {
  check(factor >= 1, "average_pool: factor must be at least 1, got ", factor);
  return std::make_shared<AveragePool>(factor);
}

}  // namespace eps
