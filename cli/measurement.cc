// A user's measurement, and the operator that made it.
#include "cli/measurement.h"

#include <cmath>

#include "cli/images.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"

namespace eps::cli {
namespace {

// From a file whose name may hold anything: no spec is made of it.
MeasuringOperator from_file(const std::string& name,
                            const std::string& path,
                            const std::function<Operator(const Tensor& like)>& make) {
  return {.name = name,
          .text = name + ":file=" + path,
          .draw = [make](const Tensor& like, Rng&) { return make(like); },
          .image_shape = [](const Shape& y) { return y; }};
}

MeasuringOperator from_spec(const std::string& asked) {
  const std::string text = find_task(asked).test;
  return {.name = is_composed(text) ? text : Spec::parse(text).name(),
          .text = text,
          .draw = parse_operator(text),
          .measurement_dims = measurement_dims_of(text),
          .image_shape = [text](const Shape& y) { return image_shape_of(text, y); }};
}

// "LENGTH,ANGLE".
std::string motion_spec(const std::string& text) {
  const size_t comma = text.find(',');
  check(comma != std::string::npos && text.find(',', comma + 1) == std::string::npos,
        "--motion ",
        text,
        ": LENGTH,ANGLE is wanted, in pixels and degrees");
  return "blur_motion:length=" + text.substr(0, comma) + ",angle=" + text.substr(comma + 1);
}

// The kernel reaches 4 standard deviations, or as far as the image does.
std::string gaussian_spec(const std::string& text, int64_t side) {
  const Range std = Spec::parse("--gaussian:STD=" + text).range("STD", 1e-3, 1e3);
  const auto reach = std::min(static_cast<int64_t>(std::ceil(4 * std.high)), (side - 1) / 2);
  return "blur_gaussian:std=" + text + ",size=" + std::to_string(2 * reach + 1);
}

// (1, ...) in float64, of so many dimensions.
Tensor read_values(const std::string& path, int64_t dims) {
  Tensor values;
  if (is_array_path(path)) {
    values = read_array(path);
    check(values.is_floating_point() || values.scalar_type() == at::kByte,
          path,
          ": float32, float64 or uint8 is wanted, found ",
          values.dtype().name());
  } else {
    check(dims == 4, path, ": such a measurement is no picture; it is read from .npy only");
    values = read_image(path);
  }
  if (values.scalar_type() == at::kByte) values = from_uint8(values);
  constexpr double kFar = 10;  // from [-1, 1], whatever the noise
  if (dims == 4 && values.numel() > 0) {
    const double most = values.nan_to_num(0, 0, 0).abs().max().item<double>();
    check(most < kFar,
          path,
          ": values of up to ",
          most,
          "; units of [-1, 1] are wanted, or uint8 for 8 bits");
  }
  const Shape found = values.sizes().vec();
  while (values.dim() < dims) values = values.unsqueeze(0);
  check(values.dim() == dims && values.size(0) == 1 && values.numel() > 0,
        path,
        ": one measurement of ",
        dims - 1,
        " dimensions is wanted, got ",
        to_string(found));
  return values.to(at::kDouble);
}

void check_target(const std::string& path, const Shape& image, const Shape& y, const Target& to) {
  const int64_t side = to.network.img_resolution;
  check(image[2] == side && image[3] == side,
        path,
        ": an image of ",
        image[2],
        " x ",
        image[3],
        image == y ? "" : ", from a measurement of " + to_string(at::IntArrayRef(y).slice(1)),
        "; the network ",
        to.model,
        " takes ",
        side,
        " x ",
        side);
  check(image[1] == to.network.img_channels || image[1] == 1,
        path,
        ": an image of ",
        image[1],
        " channels; the network ",
        to.model,
        " takes ",
        to.network.img_channels);
}

// A grey image is asked of a network for colour channel by channel (eps/restoration.h).
void check_channels(const std::string& path,
                    const Shape& image,
                    const MeasuringOperator& made_by,
                    const Target& to) {
  const bool each_alone =
      made_by.measurement_dims > 2 && made_by.name != "grey" && operators().contains(made_by.name);
  check(image[1] == to.network.img_channels || each_alone,
        path,
        ": a grey image, but ",
        made_by.text,
        " does not act on each channel alone; an image of ",
        to.network.img_channels,
        " channels is wanted");
}

// What draws at random gives two seeds two operators.
void refuse_random(const MeasuringOperator& made_by, const Tensor& like) {
  const Tensor probe = Rng(2).normal(like.sizes().vec(), like.options());
  Rng one(0), other(1);
  check(at::equal(made_by.draw(like, one)->apply(probe), made_by.draw(like, other)->apply(probe)),
        made_by.text,
        ": is drawn at random, and the one that made the measurement is wanted: say its values, or "
        "give its mask or kernel by a file; at random it can be had with --simulate");
}

}  // namespace

void add_operator_options(CLI::App& verb, OperatorOptions& o) {
  verb.add_option("--mask", o.mask, "Missing pixels: an image or array, white or 1 is measured");
  verb.add_option("--kernel", o.kernel, "Blur: an image or array of the kernel, origin at size/2");
  verb.add_option("--motion", o.motion, "Motion blur: LENGTH,ANGLE in pixels and degrees");
  verb.add_option("--gaussian", o.gaussian, "Gaussian blur: its standard deviation in pixels");
  verb.add_option("--downscale", o.downscale, "Fewer pixels: each is the mean of K x K, this is K");
  verb.add_option("--operator", o.spec, "Any other operator, or a task; see eps list operators");
}

MeasuringOperator chosen_operator(const OperatorOptions& o, int64_t side) {
  std::string given;
  int count = 0;
  for (const auto& [option, value] :
       std::map<std::string, std::string>{{"--mask", o.mask},
                                          {"--kernel", o.kernel},
                                          {"--motion", o.motion},
                                          {"--gaussian", o.gaussian},
                                          {"--downscale", o.downscale},
                                          {"--operator", o.spec}})
    if (!value.empty()) given += (count++ ? " and " : "") + option;
  check(count == 1,
        "which operator made the measurement? One of --mask, --kernel, --motion, --gaussian, "
        "--downscale and --operator is wanted, got ",
        count ? given : "none");
  if (!o.mask.empty())
    return from_file("inpaint_mask", o.mask, [path = o.mask](const Tensor& like) {
      return inpainting(read_mask_file(path, like).unsqueeze(1));
    });
  if (!o.kernel.empty())
    return from_file("blur_kernel", o.kernel, [path = o.kernel](const Tensor& like) {
      return circular_blur(read_kernel_file(path, like), like.size(2), like.size(3));
    });
  if (!o.motion.empty()) return from_spec(motion_spec(o.motion));
  if (!o.gaussian.empty()) return from_spec(gaussian_spec(o.gaussian, side));
  if (!o.downscale.empty()) return from_spec("super_resolution:factor=" + o.downscale);
  return from_spec(o.spec);
}

Measurement read_measurement(const std::string& path,
                             const MeasuringOperator& made_by,
                             const Target& target) {
  const Tensor y = read_values(path, made_by.measurement_dims);
  const Shape shape = y.sizes().vec();
  const int64_t side = target.network.img_resolution;
  // Flat measurements do not tell of what image they are.
  const Shape image = made_by.measurement_dims == 2
                          ? Shape{1, target.network.img_channels, side, side}
                          : made_by.image_shape(shape);
  check_target(path, image, shape, target);
  check_channels(path, image, made_by, target);
  const Tensor like = at::zeros(image, at::TensorOptions(target.device).dtype(at::kDouble));
  refuse_random(made_by, like);
  Rng rng(0);
  const Operator A = made_by.draw(like, rng);
  const Shape wanted = A->apply(like).sizes().vec();
  check(shape == wanted,
        path,
        ": a measurement of ",
        to_string(shape),
        "; ",
        made_by.text,
        " of an image of ",
        to_string(image),
        " gives ",
        to_string(wanted));
  // Holes may hold anything, also what stands for nothing.
  Tensor known = y.to(target.device);
  known = known.masked_fill(A->measured(at::ones_like(known)) == 0, 0);
  require_finite(known, path);
  return {.problem = {.A = A, .y = known}, .truth = {}};
}

Measurement simulate_measurement(const std::string& path,
                                 const MeasuringOperator& made_by,
                                 double sigma_y,
                                 uint64_t seed,
                                 const Target& target) {
  Measurement result;
  result.truth = read_values(path, 4);
  require_finite(result.truth, path);
  check_image_range(result.truth, path);
  const Shape image = result.truth.sizes().vec();
  check_target(path, image, image, target);
  check_channels(path, image, made_by, target);
  const Tensor x0 = result.truth.to(target.device);
  Rng for_operator(derive_seed(seed, Stream::measurement_operator));
  Rng for_noise(derive_seed(seed, Stream::measurement_noise));
  const Operator A = made_by.draw(x0, for_operator);
  result.problem = observe(A, x0, scalar(sigma_y), for_noise);
  return result;
}

}  // namespace eps::cli
