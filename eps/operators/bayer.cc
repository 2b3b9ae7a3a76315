// The colour filter array of a camera (Bayer 1976): each pixel measures red, green or blue.
//
// The mask m of a pattern is 1 at one channel of each pixel: A x = sum_c m_c x_c, so that A A' = I
// and A'A = m. picture(y) = A'y has each colour in its channel and zeros elsewhere, as masks have:
// networks that were trained with masks restore it better than an interpolated mosaic.
#include "eps/operators/converted.h"
#include "eps/operators/factories.h"
#include "eps/operators/isometry.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

class Bayer final : public Isometry {
 public:
  explicit Bayer(const Tensor& mask) : Isometry(1, mask), mask_(mask) {}

  Tensor apply(const Tensor& x) const override { return (x * mask(x)).sum(1, true); }
  Tensor adjoint(const Tensor& y) const override { return y * mask(y); }

 private:
  Tensor mask(const Tensor& like) const {
    check_image_size("bayer", like, mask_.exact().size(2), mask_.exact().size(3));
    return mask_.like(like);
  }

  const Converted mask_;  // (1, 3, H, W)
};

Operator make_bayer(const Spec& spec, const Tensor& like, Rng&) {
  return bayer(spec.text("pattern"), like.size(2), like.size(3), like.device());
}

EPS_OPERATOR({.name = "bayer",
              .summary = "the colour filter array of a camera: one colour per pixel",
              .example = "bayer:pattern=rggb",
              .fields = {Field::choice("pattern",
                                       "rggb",
                                       {"rggb", "bggr", "grbg", "gbrg"},
                                       "colours of the first 2 x 2 pixels, row by row")},
              .make = make_bayer,
              .channels = 3,
              .mixes_channels = true,
              .image_shape = [](const Spec&, const Shape& y) {
                check(y.size() == 4 && y[1] == 1,
                      "bayer: a measurement is N x 1 x H x W, got ",
                      to_string(y));
                return Shape{y[0], 3, y[2], y[3]};
              }});

}  // namespace

Operator bayer(const std::string& pattern, int64_t height, int64_t width, at::Device device) {
  check(pattern.size() == 4, "bayer: a pattern such as rggb is wanted, got ", pattern);
  Tensor mask = at::zeros({1, 3, height, width}, at::kDouble);
  for (int64_t place = 0; place < 4; ++place) {
    const size_t colour = std::string("rgb").find(pattern.at(static_cast<size_t>(place)));
    check(colour < 3, "bayer: a pattern such as rggb is wanted, got ", pattern);
    mask.select(1, static_cast<int64_t>(colour))
        .slice(1, place / 2, height, 2)
        .slice(2, place % 2, width, 2)
        .fill_(1);
  }
  return std::make_shared<Bayer>(mask.to(device));
}

}  // namespace eps
