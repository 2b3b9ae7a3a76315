// A user's measurement, read from a file or simulated.
#include "eps/restore/measurement.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "eps/data/dataset.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"
#include "eps/restore/blur_kernel.h"
#include "eps/restore/input_hints.h"

namespace eps {
namespace {

// A `FileValues` holds the values of a file, (1, ...) in float64, and the picture that they are of.
struct FileValues {
  Tensor values;
  std::optional<Picture> picture = {};
  bool are_bytes = false;  // before they were in [-1, 1]
};

// Returns an array as values of `dims` dimensions.
Tensor values_of(const std::string& path, Tensor values, int64_t dims) {
  check(values.is_floating_point() || values.scalar_type() == at::kByte,
        path,
        ": float32, float64 or uint8 is wanted, found ",
        values.dtype().name());
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

FileValues array_values(const std::string& path, const Tensor& array, int64_t dims) {
  return {.values = values_of(path, array, dims), .are_bytes = array.scalar_type() == at::kByte};
}

FileValues read_values(const std::string& path, int64_t dims) {
  if (is_array_path(path)) return array_values(path, read_array(path), dims);
  check(dims == 4, path, ": such a measurement is no picture; it is read from .npy only");
  const Picture picture = read_picture(path);
  return {values_of(path, picture.values(), dims), picture};
}

// Returns a shape in words, width x height of what is like an image.
std::string shape_words(at::IntArrayRef shape) {
  if (shape.size() != 4) return to_string(shape);
  return fmt::format(
      "{} in {} channel{}", size_words(shape[3], shape[2]), shape[1], shape[1] == 1 ? "" : "s");
}

void check_shape(const std::string& path,
                 const Shape& image,
                 const Shape& y,
                 const NetworkShape& network) {
  const bool any = network.resolution == 0;
  check(any ? std::min(image[2], image[3]) >= network.least
            : image[2] == network.resolution && image[3] == network.resolution,
        path,
        ": an image of ",
        size_words(image[3], image[2]),
        image == y ? "" : ", from a measurement of " + shape_words(y),
        "; the network ",
        network.name,
        any ? " takes sides of at least " + std::to_string(network.least)
            : fmt::format(" takes {0} x {0}: take one for pictures of any size, "
                          "or crop and resize before the measurement is made",
                          network.resolution));
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

// Returns the shape of the image that was measured. Where the operator makes the measurement's
// shape of an image of the network's size, it is that: a flat measurement and a factor such as 1.5
// do not determine it. A valid blur's picture of the network's size is cut.
Shape image_of(const std::string& path,
               const Shape& y,
               const OperatorChoice& chosen,
               const NetworkShape& network) {
  const int64_t side = network.resolution;
  check(side > 0 || chosen.measurement_dims != 2,
        chosen.spec,
        ": a flat measurement does not say the size of its image; a network for one size is "
        "wanted, not ",
        network.name);
  const auto image_shape = [&] {
    try {
      return chosen.image_shape(y);
    } catch (const Error& error) {
      fail(path, ": ", error.what());
    }
  };
  if (side == 0) return image_shape();
  if (chosen.measurement_dims == 2) return {1, network.channels, side, side};
  const Shape image = image_shape();
  const auto near = [&](int64_t n) { return std::abs(n - side) == 1; };
  const bool rounded =
      near(image[2]) && near(image[3]) && !is_composed(chosen.spec) && chosen.name == "downscale";
  const bool valid = chosen.border == Border::valid && y[2] == side && y[3] == side;
  return rounded || valid ? Shape{1, image[1], side, side} : image;
}

// Returns whether a measurement has the frame of the image, where the operator's has less.
bool is_cut(const Shape& y, const Shape& image, const Tensor& wanted) {
  return y.size() == 4 && wanted.dim() == 4 && y == image && wanted.sizes() != at::IntArrayRef(y);
}

// Refuses a valid blur that leaves next to nothing of the frame.
void check_share(const std::string& path, const OperatorChoice& chosen, const Cut& cut) {
  const int64_t kept = cut.height * cut.width, all = cut.full_height * cut.full_width;
  check(4 * kept >= all,
        path,
        ": ",
        chosen.spec,
        " leaves ",
        cut.width,
        " x ",
        cut.height,
        " of ",
        cut.full_width,
        " x ",
        cut.full_height,
        " pixels (width x height) that nothing beyond the frame reaches, less than a quarter: a "
        "smaller kernel is "
        "wanted, or the border that the blur has");
}

// Refuses a valid blur whose kernel is so large that most of the image is beyond the frame, before
// memory is taken for it.
void check_part(const std::string& path,
                const OperatorChoice& chosen,
                const Shape& image,
                const Shape& y) {
  check(4 * y[2] * y[3] >= image[2] * image[3],
        path,
        ": ",
        size_words(y[3], y[2]),
        " of an image of ",
        size_words(image[3], image[2]),
        ", less than a quarter, are what ",
        chosen.spec,
        " leaves: a smaller kernel is wanted, or the border that the blur has");
}

std::string cut_words(const std::string& path, const Cut& cut) {
  const double share = static_cast<double>(cut.height * cut.width) /
                       static_cast<double>(cut.full_height * cut.full_width);
  return fmt::format(
      "{}: {} x {} of its pixels ({:.0f}%) are used; the blur mixes the others with what lies "
      "beyond the frame (a program that made something up there has another border)",
      path,
      cut.width,
      cut.height,
      100 * share);
}

}  // namespace

NetworkShape shape_of(const Checkpoint& network, const std::string& name) {
  const nets::UNetConfig& config = network.network.config();
  return {.name = name,
          .resolution = config.is_local() ? 0 : config.img_resolution,
          .least = network.network.plan().divisor(),
          .channels = config.img_channels,
          .device = network.network.device()};
}

namespace {

Measurement measurement_from(const FileValues& file,
                             const std::string& path,
                             const OperatorChoice& chosen,
                             const NetworkShape& network) {
  const auto& [read, picture, are_bytes] = file;
  Tensor y = in_fft_order(read, chosen, path);
  const Shape found = y.sizes().vec();
  const Shape image = image_of(path, found, chosen, network);
  check_shape(path, image, found, network);
  check_channels(path, image, chosen, network);
  if (network.resolution == 0 && chosen.border == Border::valid)
    check_part(path, chosen, image, found);
  const Tensor like = at::zeros(image, at::TensorOptions(network.device).dtype(at::kDouble));
  Rng rng(0);
  const Operator A = chosen.draw(like, rng);
  check(!chosen.is_random,
        chosen.spec,
        ": is drawn at random; give the values of the operator that made the measurement, or the "
        "file of its mask or kernel; only a simulated measurement may have a random one");
  const Tensor wanted = A->apply(like);
  Measurement result;
  if (picture) result.format = picture->format;
  result.problem.A = A;
  if (chosen.border == Border::valid) result.cut = cut_of(*A, wanted, image);
  if (network.resolution == 0)
    result.shown = result.cut;
  else if (result.cut)
    check_share(path, chosen, *result.cut);
  if (result.cut && is_cut(found, image, wanted)) {
    y = result.cut->of(y).contiguous();
    result.warnings.push_back(cut_words(path, *result.cut));
  }
  check(y.sizes() == wanted.sizes(),
        path,
        ": a measurement of ",
        shape_words(found),
        "; ",
        chosen.spec,
        " of an image of ",
        shape_words(image),
        " gives ",
        shape_words(wanted.sizes()));
  // Holes may hold anything, also NaN.
  Tensor known = chosen.from_file || chosen.is_given ? y : whitened(chosen.spec, y);
  known = known.to(network.device);
  const Tensor measured = A->format().measured(at::ones_like(known));
  known = known.masked_fill(measured == 0, 0);
  require_finite(known, path);
  if (chosen.is_black) {
    result.offset = A->apply(at::ones_like(like)) - 1;
    known = known - result.offset;
  }
  result.problem.y = known;
  const Tensor& as_read = y.dim() == 5 ? read : y;
  const auto hints =
      measurement_hints(path, picture, are_bytes, as_read, measured.to(at::kCPU), chosen);
  result.warnings.insert(result.warnings.end(), hints.begin(), hints.end());
  return result;
}

}  // namespace

Measurement read_measurement(const std::string& path,
                             const OperatorChoice& chosen,
                             const NetworkShape& network) {
  return measurement_from(read_values(path, chosen.measurement_dims), path, chosen, network);
}

Measurement measurement_of(const Tensor& array,
                           const std::string& name,
                           const OperatorChoice& chosen,
                           const NetworkShape& network) {
  const FileValues values = array_values(name, array.to(at::kCPU), chosen.measurement_dims);
  return measurement_from(values, name, chosen, network);
}

Measurement simulate_measurement(const std::string& path,
                                 const OperatorChoice& chosen,
                                 double sigma_y,
                                 const NoiseModel& noise,
                                 uint64_t seed,
                                 const NetworkShape& network) {
  Measurement result;
  const auto [truth, picture, are_bytes] = read_values(path, 4);
  result.truth = truth;
  if (picture) result.format = picture->format;
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
  if (chosen.border == Border::valid)
    result.cut = cut_of(*A, result.problem.y, result.problem.image());
  if (!noise.is_white()) {
    const Tensor clean = A->apply(x0);
    const Tensor drawn = draw_noise(noise, clean, sigma_y, for_noise, result.cut);
    result.problem.y = clean + A->format().measured(drawn);
  }
  return result;
}

}  // namespace eps
