// Synthetic images: shapes on a smooth background, and Gaussian textures.
//
// Image n is a pure function of the fields and n: it comes from stream n of the seed.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "eps/base/random.h"
#include "eps/data/sources/source.h"
#include "eps/io/images/image.h"

namespace eps {
namespace {

constexpr int64_t kShapes = 3;    // disc, rectangle, triangle
constexpr int64_t kTextures = 3;  // bands of the spectral exponent, unless `classes` is given

struct Plan {
  bool shapes = true, textures = true;
  int64_t shape_classes = kShapes, texture_classes = kTextures;
  int64_t size = 64, channels = 3;
  uint64_t seed = 0;

  // Shapes and textures take turns, and so do the classes of each.
  bool is_shape(int64_t n) const { return shapes && (!textures || n % 2 == 0); }
  int64_t variant(int64_t n) const {
    const int64_t turn = shapes && textures ? n / 2 : n;
    return turn % (is_shape(n) ? shape_classes : texture_classes);
  }
  int64_t label(int64_t n) const {
    return variant(n) + (shapes && !is_shape(n) ? shape_classes : 0);
  }
  int64_t classes() const {
    return (shapes ? shape_classes : 0) + (textures ? texture_classes : 0);
  }
};

// A `Dice` returns successive uniform numbers in [low, high).
class Dice {
 public:
  explicit Dice(Rng& rng) : numbers_(rng.uniform({128})) {}
  double draw(double low, double high) {
    return low + (high - low) * numbers_.data_ptr<double>()[next_++];
  }

 private:
  const Tensor numbers_;
  size_t next_ = 0;
};

// Returns a random RGB colour in [0, 1] as (3, 1, 1): a hue on a circle about a grey.
Tensor draw_colour(Dice& dice) {
  const double hue = dice.draw(0, 2 * std::numbers::pi);
  const double saturation = dice.draw(0.05, 0.35);
  const double grey = dice.draw(0.25, 0.75);
  const Tensor phases = at::arange(3, at::kDouble) * (2 * std::numbers::pi / 3) + hue;
  return (grey + saturation * phases.cos()).clamp(0, 1).view({3, 1, 1});
}

// A `Plane` holds the pixel centres across the image, as (1, size) and (size, 1), in units of the
// side.
struct Plane {
  Tensor x, y;
  explicit Plane(int64_t size)
      : x((at::arange(size, at::kDouble) + 0.5).unsqueeze(0) / size), y(x.t()) {}
};

// Draws two colours, blended along a slightly curved ramp.
Tensor draw_background(const Plane& plane, Dice& dice) {
  const Tensor from = draw_colour(dice), to = draw_colour(dice);
  const double angle = dice.draw(0, 2 * std::numbers::pi);
  const double bend = dice.draw(-0.3, 0.3), phase = dice.draw(0, 2 * std::numbers::pi);
  const Tensor u = std::cos(angle) * (plane.x - 0.5) + std::sin(angle) * (plane.y - 0.5);
  const Tensor v = std::cos(angle) * (plane.y - 0.5) - std::sin(angle) * (plane.x - 0.5);
  const Tensor ramp = (0.5 + 0.7 * u + bend * (4 * v + phase).sin()).clamp(0, 1);
  return from + (to - from) * ramp;
}

// Returns the signed distance to the border of shape 0, 1 or 2 of radius r, negative inside; (size,
// size).
Tensor distance_to(int64_t shape, const Plane& plane, double r, Dice& dice) {
  const double cx = dice.draw(r, 1 - r), cy = dice.draw(r, 1 - r);
  const double angle = dice.draw(0, 2 * std::numbers::pi), aspect = dice.draw(0.55, 0.95);
  const Tensor x = plane.x - cx, y = plane.y - cy;
  const auto along = [&](double direction) {
    return std::cos(direction) * x + std::sin(direction) * y;
  };
  if (shape == 0) return (x.square() + y.square()).sqrt() - r;
  if (shape == 1) {
    const double half_width = r, half_height = aspect * r;
    return at::maximum(along(angle).abs() - half_width,
                       along(angle + std::numbers::pi / 2).abs() - half_height);
  }
  const double third = 2 * std::numbers::pi / 3;
  const Tensor two = at::maximum(along(angle), along(angle + third));
  return at::maximum(two, along(angle + 2 * third)) - 0.65 * r;
}

// Draws small shapes of any kind, then the larger shape of the class on top.
Tensor draw_shapes(const Plan& plan, int64_t dominant, Dice& dice) {
  const Plane plane(plan.size);
  Tensor image = draw_background(plane, dice);
  const auto others = static_cast<int64_t>(dice.draw(1, 5));
  for (int64_t i = 0; i <= others; ++i) {
    const bool last = i == others;
    const int64_t shape = last ? dominant : static_cast<int64_t>(dice.draw(0, kShapes));
    const double r = last ? dice.draw(0.2, 0.36) : dice.draw(0.05, 0.13);
    const Tensor colour = draw_colour(dice);
    const double light = dice.draw(-0.5, 0.5);
    // A pixel counts by the fraction of its area inside the shape, to first order.
    const Tensor inside =
        (0.5 - static_cast<double>(plan.size) * distance_to(shape, plane, r, dice)).clamp(0, 1);
    const Tensor shaded = colour + light * (plane.x + plane.y - 1);
    image = image + inside * (shaded - image);
  }
  return image;
}

// Draws a texture with power spectrum 1/f^a, a in the band of the class, in two random colours
// about a third.
Tensor draw_texture(const Plan& plan, int64_t band, Dice& dice, Rng& rng) {
  constexpr double kRoughest = 1.5, kSmoothest = 4;
  const double width = (kSmoothest - kRoughest) / static_cast<double>(plan.texture_classes);
  const double low = kRoughest + width * static_cast<double>(band);
  const double exponent = dice.draw(low, low + width);
  const int64_t size = plan.size;
  const Tensor fy = at::fft_fftfreq(size, 1.0, at::kDouble).unsqueeze(1);
  const Tensor fx = at::fft_rfftfreq(size, 1.0, at::kDouble).unsqueeze(0);
  Tensor amplitude = (fx.square() + fy.square()).pow(-exponent / 4);
  amplitude[0][0] = 0;  // the mean is the third colour
  const Tensor spectrum = at::fft_rfft2(rng.normal({2, size, size})) * amplitude;
  const Tensor field = at::fft_irfft2(spectrum, at::IntArrayRef{size, size});
  const Tensor unit = field / field.square().mean({1, 2}, true).sqrt();
  const Tensor mean = draw_colour(dice);
  const Tensor light = dice.draw(0.1, 0.2) * at::ones({3, 1, 1}, at::kDouble);
  const Tensor tint = 0.3 * (draw_colour(dice) - draw_colour(dice));
  return mean + light * unit[0] + tint * unit[1];
}

Tensor draw_image(const Plan& plan, int64_t n) {
  Rng rng(plan.seed, std::vector<uint64_t>{static_cast<uint64_t>(n)});
  Dice dice(rng);
  Tensor image = plan.is_shape(n) ? draw_shapes(plan, plan.variant(n), dice)
                                  : draw_texture(plan, plan.variant(n), dice, rng);
  if (plan.channels == 1) image = image.mean(0, true);
  return to_uint8(2 * image - 1);
}

constexpr int64_t kMostClasses = 16;

// Sets the numbers of classes of both kinds from their sum `classes`; each kind has at least one.
void set_classes(Plan& plan, const Spec& spec) {
  const int64_t least = plan.shapes && plan.textures ? 2 : 1;
  const int64_t most = plan.textures ? kMostClasses : kShapes;
  const int64_t classes = spec.integer("classes");
  check(classes <= most, "synthetic: classes=", classes, " is outside [0, ", most, "]");
  if (classes == 0) return;
  check(classes >= least, "synthetic: kind=mixed has at least 2 classes, got ", classes);
  plan.shape_classes = plan.textures ? std::min(kShapes, (classes + 1) / 2) : classes;
  plan.texture_classes = plan.shapes ? classes - plan.shape_classes : classes;
}

std::vector<std::string> class_names(const Plan& plan) {
  std::vector<std::string> names;
  const char* shapes[kShapes] = {"disc", "rectangle", "triangle"};
  for (int64_t i = 0; plan.shapes && i < plan.shape_classes; ++i) names.emplace_back(shapes[i]);
  for (int64_t i = 0; plan.textures && i < plan.texture_classes; ++i) {
    names.push_back(fmt::format("texture {} of {}", i + 1, plan.texture_classes));
  }
  return names;
}

}  // namespace

const std::vector<Field>& synthetic_fields() {
  static const std::vector<Field> fields = {
      Field::choice("kind", "mixed", {"shapes", "textures", "mixed"}, "mixed: half each"),
      Field::integer("count", "1000", {1, 1e7}, "number of images"),
      Field::integer(
          "size", "", {8, 4096}, "side in pixels; 64 unless the size is given elsewhere"),
      Field::choice("channels", "", {"1", "3"}, "3 unless given elsewhere"),
      Field::integer("classes",
                     "",
                     {0, kMostClasses},
                     "number of classes; 0: no labels; shapes 3, textures 3, mixed 6 without it"),
      Field::integer("seed", "0", at_least(0), "another seed, other images")};
  return fields;
}

ImageSource open_synthetic(const std::string& text, const DatasetOptions& options) {
  const Spec spec = Spec::parse(text).resolve(synthetic_fields());
  Plan plan;
  const std::string kind = spec.text("kind");
  plan.shapes = kind != "textures";
  plan.textures = kind != "shapes";
  if (options.size > 0) plan.size = options.size;
  if (options.channels > 0) plan.channels = options.channels;
  if (spec.has("size")) plan.size = spec.integer("size");
  if (spec.has("channels")) plan.channels = spec.integer("channels");
  plan.seed = static_cast<uint64_t>(spec.integer("seed"));
  if (spec.has("classes")) set_classes(plan, spec);

  ImageSource source;
  source.name = text;
  const int64_t count = spec.integer("count");
  for (int64_t i = 0; i < count; ++i) {
    source.files.push_back(fmt::format("img{:08}.png", i));
    source.image_names.push_back(fmt::format("{}: {}", text, i));
  }
  source.read = [plan](size_t i) { return draw_image(plan, static_cast<int64_t>(i)); };
  if (spec.has("classes") && spec.integer("classes") == 0) return source;
  source.label_dim = plan.classes();
  source.class_names = class_names(plan);
  source.labels = at::empty({count}, at::kLong);
  auto* labels = source.labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) labels[i] = plan.label(i);
  return source;
}

}  // namespace eps
