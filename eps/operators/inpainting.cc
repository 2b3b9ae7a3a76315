// Inpainting: A keeps the pixels where a mask is 1. A'A is the mask itself, so everything is per
// pixel.
#include <cmath>

#include "eps/math/kernels/kernels.h"
#include "eps/operators/converted.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"

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
