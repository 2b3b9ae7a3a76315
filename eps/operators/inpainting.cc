// Inpainting: A keeps the pixels where a mask is 1. A'A is the mask itself, so everything is per
// pixel.
#include <cmath>
#include <numbers>

#include "eps/math/kernels/kernels.h"
#include "eps/operators/converted.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"
#include "eps/operators/smooth_field.h"

namespace eps {
namespace {

class Inpainting final : public LinearOperator, public Spectral {
 public:
  explicit Inpainting(const Tensor& mask)
      : mask_(mask.to(at::kDouble)),
        bytes_(mask.is_cpu() ? mask.to(at::kByte).contiguous() : Tensor()) {}

  Tensor apply(const Tensor& x) const override { return x * mask(x); }
  Tensor adjoint(const Tensor& y) const override { return y * mask(y); }

  // Sec. 3.2, Computing mu_star: m / (m + lambda), which is m / (1 + lambda) for m in {0, 1}.
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return r * weight(r, lambda);
  }
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override {
    check_size(z);
    if (bytes_.defined() && bytes_.size(1) == 1 && z.sizes() == y.sizes() &&
        kernels::plain(z, y, lambda, batch())) {
      return kernels::mask_proximal(z, y, bytes_, kernels::values(lambda));
    }
    return at::addcmul(z, y - z, weight(z, lambda));
  }

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::pixel; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override { return x * f(mask(x)); }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    return f(mask(like));
  }

  Tensor measured(const Tensor& y) const override { return adjoint(y); }
  std::map<std::string, Tensor> parameters() const override {
    return {{"mask", mask_.exact().squeeze(1)}};
  }
  int64_t batch() const override { return mask_.exact().size(0); }

 private:
  void check_size(const Tensor& x) const {
    check_image_size("inpainting", x, mask_.exact().size(2), mask_.exact().size(3));
  }
  Tensor mask(const Tensor& like) const {
    check_size(like);
    return mask_.like(like);
  }
  Tensor weight(const Tensor& like, const Tensor& lambda) const {
    return mask(like) / (1 + per_sample(lambda, like));
  }

  const Converted mask_;  // (N or 1, C or 1, H, W)
  const Tensor bytes_;    // the same for the CPU's kernel; undefined on a GPU
};

Operator make_random(const Spec& spec, const Tensor& like, Rng& rng) {
  const Tensor missing = draw_in(spec.range("missing"), like, rng);
  const Tensor u = rng.uniform({like.size(0), 1, like.size(2), like.size(3)});
  return std::make_shared<Inpainting>((u >= missing).to(like.device()));
}

// An `Interval` holds the first pixel and the length of the hole along a side of `pixels`, each (N,
// 1, 1, 1).
struct Interval {
  Tensor begin, length;
};
Interval draw_interval(const Spec& spec,
                       const char* size,
                       const char* position,
                       int64_t pixels,
                       const Tensor& like,
                       Rng& rng) {
  const auto side = static_cast<double>(pixels);
  const Range range = spec.range(size, 0, side, side);
  const auto single = [&](const char* key) {
    const Range value = spec.range(key, 0, side, side);
    check(value.low == value.high,
          spec.name(),
          ": ",
          key,
          "=",
          spec.text(key),
          " must be one number");
    return value.low;
  };
  // Lengths are whole numbers from ceil(low) to floor(high), each equally likely.
  const double most = std::floor(range.high);
  const Tensor length =
      draw_in({std::ceil(range.low), most + 1}, like, rng).floor().clamp_max(most);
  const bool given = spec.has(position), random = spec.text("position") == "random" && !given;
  const double margin = random ? std::floor(single("margin")) : 0;
  const Tensor room = side - 2 * margin - length;
  Tensor begin = (room / 2).floor();
  if (random) begin = margin + (rng.uniform({like.size(0), 1, 1, 1}) * (room + 1)).floor();
  if (given) begin = at::full_like(length, std::floor(single(position)));
  // The largest hole that can be drawn must fit; reading the drawn one would wait for a GPU.
  const double least_room = side - most - (given ? std::floor(single(position)) : 2 * margin);
  check(least_room >= 0,
        spec.name(),
        ": ",
        size,
        "=",
        spec.text(size),
        given ? std::string(" from ") + position + "=" + spec.text(position)
              : " with margin=" + spec.text("margin"),
        " does not fit an image of ",
        pixels,
        " pixels");
  return {begin, length};
}

Operator make_box(const Spec& spec, const Tensor& like, Rng& rng) {
  const auto inside = [&](const char* size, const char* position, int64_t dim) {
    const auto [begin, length] = draw_interval(spec, size, position, like.size(dim), like, rng);
    Shape along{1, 1, 1, 1};
    along[static_cast<size_t>(dim)] = like.size(dim);
    const Tensor index = at::arange(like.size(dim), begin.options()).reshape(along);
    return at::logical_and(index >= begin, index < begin + length);
  };
  const Tensor rows = inside("height", "top", 2), columns = inside("width", "left", 3);
  return std::make_shared<Inpainting>(
      at::logical_not(at::logical_and(rows, columns)).to(like.device()));
}

// Draws scratches and hairs, curved lines of one width. A line is where a smooth random field f is
// 0, as far as another keeps it: |f| < |grad f| w / 2 is a band of the width w around it, to first
// order. By the formula of Kac and Rice a standard normal field, white noise under a Gaussian blur
// of s pixels, has lines of 1 / (2 sqrt(2) s) pixels for each pixel of its area, which gives s for
// the share that is to be missing.
Operator make_scratches(const Spec& spec, const Tensor& like, Rng& rng) {
  constexpr double kKept = 0.5;  // of the lines
  const Tensor width = draw_in(spec.range("width"), like, rng);
  const Tensor missing = draw_in(spec.range("missing"), like, rng);
  const Tensor std = kKept * width / (2 * std::numbers::sqrt2 * missing);
  const Tensor field = draw_smooth_field(std, like, rng);
  const Tensor kept = draw_smooth_field(std, like, rng) > 0;
  const auto slope = [&](int64_t dim) { return (field.roll(-1, dim) - field.roll(1, dim)) / 2; };
  const Tensor gradient = (slope(2).square() + slope(3).square()).sqrt();
  const Tensor lines = at::logical_and(field.abs() < gradient * width / 2, kept);
  return std::make_shared<Inpainting>(lines.logical_not().to(like.device()));
}

Operator make_mask(const Spec& spec, const Tensor& like, Rng&) {
  return inpainting(read_mask_file(spec.text("file"), like).unsqueeze(1));
}

EPS_OPERATOR({.name = "inpaint_random",
              .summary = "each pixel is missing with a probability, all its channels together",
              .example = "inpaint_random:missing=0.7",
              .fields = {Field::range(
                  "missing", "0.7", {0, 1}, "fraction missing; a..b draws one per image")},
              .strengths = {"missing"},
              .make = make_random,
              .kind = "mask",
              .is_random = [](const Spec& spec) {
                const Range missing = spec.range("missing");
                return missing.low < 1 && missing.high > 0;  // otherwise none or all are missing
              }});

EPS_OPERATOR(
    {.name = "inpaint_box",
     .summary = "a missing rectangle",
     .example = "inpaint_box:height=50%,width=25%",
     .fields = {{"height", "50%", "pixels or %; a..b draws one per image"},
                {"width", "50%", "pixels or %; a..b draws one per image"},
                Field::choice("position", "center", {"center", "random"}, "position of the box"),
                {"margin", "0", "pixels or % that a box of random position keeps from every edge"},
                {"top", "", "first missing row, instead of position"},
                {"left", "", "first missing column, instead of position"}},
     .strengths = {"height", "width"},
     .make = make_box,
     .kind = "box",
     .is_random = [](const Spec& spec) {
       const bool placed = spec.has("top") && spec.has("left");
       return (spec.text("position") == "random" && !placed) ||
              random_ranges({"height", "width"})(spec);
     }});

EPS_OPERATOR({.name = "inpaint_scratches",
              .summary = "missing pixels along curved lines: scratches and hairs",
              .example = "inpaint_scratches:width=2,missing=0.2",
              .fields = {Field::range("width",
                                      "3",
                                      {0.5, 1e6},
                                      "of the lines in pixels; a..b draws one per image"),
                         Field::range("missing",
                                      "0.1",
                                      {0.001, 0.5},
                                      "fraction missing, about; a..b draws one per image")},
              .strengths = {"width", "missing"},
              .make = make_scratches,
              .kind = "mask",
              .is_random = [](const Spec&) { return true; }});

EPS_OPERATOR(
    {.name = "inpaint_mask",
     .summary = "a mask from a file: white or 1 is observed",
     .example = "",
     .fields = {{"file",
                 "",
                 "PNG, JPEG, .npy or .safetensors; H x W, or N x H x W with one per image"}},
     .make = make_mask,
     .kind = "mask"});

}  // namespace

Operator inpainting(const Tensor& mask) {
  const Tensor wide = mask.to(at::kDouble);
  check((wide * (1 - wide)).abs().max().item<double>() == 0,
        "inpainting: a mask holds 0 and 1 only");
  check(
      mask.dim() == 4, "inpainting: the mask must be N x C x H x W, got ", to_string(mask.sizes()));
  return std::make_shared<Inpainting>(mask);
}

}  // namespace eps
