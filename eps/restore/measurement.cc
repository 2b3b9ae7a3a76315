// A user's measurement, and the operator that made it.
#include "eps/restore/measurement.h"

#include <fmt/ranges.h>

#include <cmath>

#include "eps/data/dataset.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/restore/input_hints.h"

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
  // Real and imaginary part in place of channels, as deepinv has them.
  if (dims == 5 && values.dim() == 4 && values.size(0) == 1 && values.size(1) == 2 &&
      values.size(3) != 2)
    values = values.permute({0, 2, 3, 1}).unsqueeze(1);
  const auto is_colour = [](int64_t size) { return size == 1 || size == 3; };
  const bool channels_last =
      dims == 4 && values.dim() >= 3 && is_colour(values.size(-1)) && !is_colour(values.size(-3));
  check(!channels_last,
        path,
        ": an array of ",
        to_string(found),
        ", channels last; C x H x W is wanted: transpose it (NumPy: y.transpose(2, 0, 1))");
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
        ": an image ",
        image[3],
        " pixels wide and ",
        image[2],
        " high",
        image == y ? "" : ", from a measurement of " + to_string(at::IntArrayRef(y).slice(1)),
        "; the network ",
        network.name,
        " takes ",
        network.resolution,
        " x ",
        network.resolution,
        ": crop and resize before the measurement is made, or train a network for this size");
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

// Returns k-space in the order of fft2. Centred k-space has its zero frequency at [H/2, W/2].
Tensor in_fft_order(const Tensor& y, const OperatorChoice& chosen, const std::string& path) {
  check(!chosen.centred || y.dim() == 5,
        path,
        ": centred is for k-space; ",
        chosen.spec,
        " has none");
  return chosen.centred ? at::fft_ifftshift(y, at::IntArrayRef({2, 3})) : y;
}

// Returns what speaks against a measurement y with what its file has in the holes of a mask; `mask`
// is the mask's file, or "".
std::vector<std::string> hints_of(const std::string& path,
                                  const Tensor& y,
                                  const Tensor& measured,
                                  const std::string& mask) {
  if (y.dim() == 5) return kspace_hints(path, y);
  if (y.dim() != 4) return {};
  std::vector<std::string> hints;
  const auto add = [&](const std::vector<std::string>& more) {
    hints.insert(hints.end(), more.begin(), more.end());
  };
  if (is_array_path(path))
    add(range_hints(path, y));
  else if (mask.empty())
    add(alpha_hints(path));
  if (!mask.empty()) add(mask_hints(mask, y, measured));
  return hints;
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
        given.empty() ? "none; a picture that is only noisy has the operator identity"
                      : fmt::format("{}", fmt::join(given, " and ")));
  check(!o.centred || !o.spec.empty(), "centred: is for k-space, which only operator names");
  check(!o.flip_kernel || !o.kernel.empty(), "flip_kernel: there is no kernel to flip");
  if (!o.mask.empty()) {
    OperatorChoice chosen = from_file("inpaint_mask", o.mask, [path = o.mask](const Tensor& like) {
      return inpainting(read_mask_file(path, like).unsqueeze(1));
    });
    chosen.mask = o.mask;
    return chosen;
  }
  if (!o.kernel.empty()) {
    OperatorChoice chosen = from_file(
        "blur_kernel", o.kernel, [path = o.kernel, flip = o.flip_kernel](const Tensor& like) {
          const Tensor kernel = read_kernel_file(path, like);
          return circular_blur(flip ? kernel.flip({1, 2}) : kernel, like.size(2), like.size(3));
        });
    if (o.flip_kernel) chosen.spec += ", flipped";
    return chosen;
  }
  if (!o.motion.empty()) return from_spec(motion_spec(o.motion));
  if (!o.gaussian.empty()) return from_spec(gaussian_spec(o.gaussian, side));
  if (!o.downscale.empty()) return from_spec("super_resolution:factor=" + o.downscale);
  OperatorChoice chosen = from_spec(o.spec);
  chosen.centred = o.centred;
  return chosen;
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
  const Tensor y = in_fft_order(read_values(path, chosen.measurement_dims), chosen, path);
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
  const Tensor measured = A->format().measured(at::ones_like(known));
  known = known.masked_fill(measured == 0, 0);
  require_finite(known, path);
  return {.problem = {.A = A, .y = known},
          .warnings = hints_of(path, y, measured.to(at::kCPU), chosen.mask)};
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
