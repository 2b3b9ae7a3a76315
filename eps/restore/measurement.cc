// A user's measurement, and the operator that made it.
#include "eps/restore/measurement.h"

#include <fmt/ranges.h>

#include <cmath>

#include "eps/data/dataset.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"

namespace eps {
namespace {

// Returns an operator from a file whose name may hold any character, and so cannot be part of a
// spec.
OperatorChoice from_file(const std::string& name,
                         const std::string& path,
                         const std::function<Operator(const Tensor& like)>& make) {
  return {.name = name,
          .spec = name + ":file=" + path,
          .draw = [make](const Tensor& like, Rng&) { return make(like); },
          .from_file = true,
          .image_shape = [](const Shape& y) { return y; }};
}

OperatorChoice from_spec(const std::string& name) {
  const std::string spec = find_task(name).test;
  return {.name = is_composed(spec) ? spec : Spec::parse(spec).name(),
          .spec = spec,
          .draw = parse_operator(spec),
          .is_random = is_random(spec),
          .measurement_dims = measurement_dims_of(spec),
          .image_shape = [spec](const Shape& y) { return image_shape_of(spec, y); }};
}

// Returns the spec of a motion blur "LENGTH,ANGLE".
std::string motion_spec(const std::string& text) {
  const size_t comma = text.find(',');
  check(comma != std::string::npos && text.find(',', comma + 1) == std::string::npos,
        "motion ",
        text,
        ": LENGTH,ANGLE is wanted, in pixels and degrees");
  return "blur_motion:length=" + text.substr(0, comma) + ",angle=" + text.substr(comma + 1);
}

// Returns the spec of a Gaussian blur whose kernel reaches 4 standard deviations, or as far as the
// image does.
std::string gaussian_spec(const std::string& text, int64_t side) {
  const Range std = Spec::parse("gaussian:STD=" + text).range("STD", 1e-3, 1e3);
  const auto reach = std::min(static_cast<int64_t>(std::ceil(4 * std.high)), (side - 1) / 2);
  return "blur_gaussian:std=" + text + ",size=" + std::to_string(2 * reach + 1);
}

// Reads values (1, ...) in float64, of `dims` dimensions.
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

void check_shape(const std::string& path,
                 const Shape& image,
                 const Shape& y,
                 const NetworkShape& network) {
  check(image[2] == network.resolution && image[3] == network.resolution,
        path,
        ": an image of ",
        image[2],
        " x ",
        image[3],
        image == y ? "" : ", from a measurement of " + to_string(at::IntArrayRef(y).slice(1)),
        "; the network ",
        network.name,
        " takes ",
        network.resolution,
        " x ",
        network.resolution);
  check(image[1] == network.channels || image[1] == 1,
        path,
        ": an image of ",
        image[1],
        " channels; the network ",
        network.name,
        " takes ",
        network.channels);
}

// Refuses a grey image for a colour network unless the operator acts on each channel alone, as the
// network restores a grey image channel by channel (eps/restore/restoration.h).
void check_channels(const std::string& path,
                    const Shape& image,
                    const OperatorChoice& chosen,
                    const NetworkShape& network) {
  const bool each_alone = chosen.measurement_dims > 2 && operators().contains(chosen.name) &&
                          !operators().at(chosen.name).mixes_channels;
  check(image[1] == network.channels || each_alone,
        path,
        ": a grey image, but ",
        chosen.spec,
        " does not act on each channel alone; an image of ",
        network.channels,
        " channels is wanted");
}

}  // namespace

OperatorChoice choose_operator(const OperatorOptions& o, int64_t side) {
  std::vector<std::string> given;
  for (const auto& [option, value] : std::map<std::string, std::string>{{"mask", o.mask},
                                                                        {"kernel", o.kernel},
                                                                        {"motion", o.motion},
                                                                        {"gaussian", o.gaussian},
                                                                        {"downscale", o.downscale},
                                                                        {"operator", o.spec}})
    if (!value.empty()) given.push_back(option);
  check(given.size() == 1,
        "which operator made the measurement? One of mask, kernel, motion, gaussian, downscale and "
        "operator is wanted, got ",
        given.empty() ? "none" : fmt::format("{}", fmt::join(given, " and ")));
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

NetworkShape shape_of(const Checkpoint& network, const std::string& name) {
  const nets::UNetConfig& config = network.network.config();
  return {.name = name,
          .resolution = config.img_resolution,
          .channels = config.img_channels,
          .device = network.network.device()};
}

Measurement read_measurement(const std::string& path,
                             const OperatorChoice& chosen,
                             const NetworkShape& network) {
  const Tensor y = read_values(path, chosen.measurement_dims);
  const Shape shape = y.sizes().vec();
  // A flat measurement does not determine the shape of its image.
  const Shape image = chosen.measurement_dims == 2
                          ? Shape{1, network.channels, network.resolution, network.resolution}
                          : chosen.image_shape(shape);
  check_shape(path, image, shape, network);
  check_channels(path, image, chosen, network);
  const Tensor like = at::zeros(image, at::TensorOptions(network.device).dtype(at::kDouble));
  Rng rng(0);
  const Operator A = chosen.draw(like, rng);
  check(!chosen.is_random,
        chosen.spec,
        ": is drawn at random; give the values of the operator that made the measurement, or the "
        "file of its mask or kernel; only a simulated measurement may have a random one");
  const Shape wanted = A->apply(like).sizes().vec();
  check(shape == wanted,
        path,
        ": a measurement of ",
        to_string(shape),
        "; ",
        chosen.spec,
        " of an image of ",
        to_string(image),
        " gives ",
        to_string(wanted));
  // Holes may hold anything, also NaN.
  Tensor known = chosen.from_file ? y : whitened(chosen.spec, y);
  known = known.to(network.device);
  known = known.masked_fill(A->format().measured(at::ones_like(known)) == 0, 0);
  require_finite(known, path);
  return {.problem = {.A = A, .y = known}};
}

Measurement simulate_measurement(const std::string& path,
                                 const OperatorChoice& chosen,
                                 double sigma_y,
                                 uint64_t seed,
                                 const NetworkShape& network) {
  Measurement result;
  result.truth = read_values(path, 4);
  require_finite(result.truth, path);
  check_image_range(result.truth, path);
  const Shape image = result.truth.sizes().vec();
  check_shape(path, image, image, network);
  check_channels(path, image, chosen, network);
  const Tensor x0 = result.truth.to(network.device);
  Rng for_operator(derive_seed(seed, Stream::measurement_operator));
  Rng for_noise(derive_seed(seed, Stream::measurement_noise));
  const Operator A = chosen.draw(x0, for_operator);
  result.problem = observe(A, x0, scalar(sigma_y), for_noise);
  return result;
}

}  // namespace eps
