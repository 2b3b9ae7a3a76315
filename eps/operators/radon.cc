// Parallel-beam computed tomography: the Radon transform of each channel, on strips.
//
// Angle k is theta = span k / angles, from the x axis (to the right) counter-clockwise, and the
// detectors are one pixel wide and centred on the image: detector j sees the strip |x cos theta + y
// sin theta - s_j| < 1/2. Its entry for a pixel is the area of their intersection, so that the sum
// over the detectors keeps the mass of the image at every angle. All entries are divided by
// sqrt(angles side), which makes the norm of A about 1.
#include <cmath>
#include <numbers>

#include "eps/operators/factories.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

// Returns the part of a pixel that lies below s = t, where the pixel's centre has s = 0. The
// shadow of a unit square is a trapezoid, the convolution of boxes of the widths |cos| and |sin|,
// `wide` and `narrow`: its top is wide - narrow long, its base wide + narrow.
Tensor shadow_below(const Tensor& t, double wide, double narrow) {
  const Tensor far = t.abs();
  const Tensor middle = 0.5 + far / wide;
  const Tensor slope = ((wide + narrow) / 2 - far).clamp(0, narrow);
  const Tensor flank = 1 - slope.square() / std::max(2 * wide * narrow, 1e-300);
  const Tensor above = at::where(far <= (wide - narrow) / 2, middle, flank);
  return at::where(t >= 0, above, 1 - above);
}

// Returns the response of the filter of Ramachandran and Lakshminarayanan (1971) with Hann's
// window, at the frequencies of rfft over n detectors. The samples of its kernel, and not |f|
// itself, keep the mean of an image: 1/4 in the middle, -1/(pi k)^2 at the odd distances k.
Tensor ramp_response(int64_t n, const at::TensorOptions& options) {
  const Tensor index = at::arange(n, options);
  const Tensor distance = at::minimum(index, static_cast<double>(n) - index);
  const Tensor odd = distance.remainder(2);
  const Tensor tail = -odd / (std::numbers::pi * distance).square().clamp_min(1);
  const Tensor kernel = at::where(index == 0, at::full_like(tail, 0.25), tail);
  const Tensor window = (1 + (2 * std::numbers::pi * at::fft_rfftfreq(n, 1.0, options)).cos()) / 2;
  return at::real(at::fft_rfft(kernel)) * window;
}

// A `Radon` adds to the sparse matrix the filtered backprojection as its picture.
class Radon final : public LinearOperator {
 public:
  // gain: of the filtered backprojection by the matrix, see picture().
  Radon(Operator strips, double gain) : strips_(std::move(strips)), gain_(gain) {}

  Tensor apply(const Tensor& x) const override { return strips_->apply(x); }
  Tensor adjoint(const Tensor& y) const override { return strips_->adjoint(y); }
  Tensor structural_diagonal(const Tensor& like) const override {
    return strips_->structural_diagonal(like);
  }

  // Returns the integral over theta of the filtered projections h * p. With A = c R, R in pixels,
  // and y = c p, its sum over the angles is (span/angles) R' (h * p) = (span/angles) A' (h * y) /
  // c^2.
  Tensor picture(const Tensor& y) const override {
    const int64_t detectors = y.size(3), n = 2 * detectors;  // so that no projection meets itself
    const Tensor filtered = at::fft_irfft(at::fft_rfft(y, n) * ramp_response(n, y.options()), n);
    return gain_ * strips_->adjoint(filtered.slice(3, 0, detectors));
  }

 private:
  const Operator strips_;
  const double gain_;
};

int64_t detectors_across(int64_t height, int64_t width) {
  return static_cast<int64_t>(
      std::ceil(std::hypot(static_cast<double>(height), static_cast<double>(width))));
}

int64_t detectors_of(const Spec& spec, int64_t height, int64_t width) {
  if (spec.text("detectors") == "auto") return detectors_across(height, width);
  const int64_t count = spec.integer("detectors");
  check(count >= 1 && count <= 1 << 20, "radon: detectors=", count, " is outside [1, 1048576]");
  return count;
}

Operator make_radon(const Spec& spec, const Tensor& like, Rng&) {
  return radon(spec.integer("angles"),
               detectors_of(spec, like.size(2), like.size(3)),
               spec.real("span"),
               like.sizes().vec(),
               like.device());
}

// A square image is as wide as the detectors that are given, and 1/sqrt(2) of those that reach its
// corners.
Shape scanned_image(const Spec& spec, const Shape& y) {
  check(y.size() == 4, "radon: a measurement is N x C x angles x detectors, got ", to_string(y));
  auto side = static_cast<int64_t>(static_cast<double>(y[3]) / std::sqrt(2.0));
  if (spec.text("detectors") != "auto") side = y[3];
  return {y[0], y[1], side, side};
}

EPS_OPERATOR(
    {.name = "radon",
     .summary = "computed tomography: parallel beams, integrals over strips",
     .example = "radon:angles=3",
     .fields = {Field::integer("angles", "60", {1, 1 << 16}, "number of projections"),
                {"detectors",
                 "auto",
                 "detectors of one pixel, centred; auto: as many as the diagonal has pixels"},
                Field::real("span", "180", {0, 360, true}, "degrees that the angles cover")},
     .strengths = {"angles", "span"},
     .make = make_radon,
     .image_shape = scanned_image});

}  // namespace

SparseMatrix radon_matrix(
    int64_t angles, int64_t detectors, double span, int64_t height, int64_t width) {
  constexpr int64_t kMostEntries = int64_t{1} << 28;  // 4 GB, and as much for the transpose
  check(angles <= kMostEntries / 3 / (height * width),
        "radon: ",
        angles,
        " angles of ",
        height,
        " x ",
        width,
        " pixels make a matrix of more than ",
        kMostEntries,
        " entries");
  const auto centred = [](int64_t count) {
    return at::arange(count, at::kDouble) - static_cast<double>(count - 1) / 2;
  };
  const Tensor right = centred(width), up = -centred(height).unsqueeze(1);
  const Tensor pixel = at::arange(height * width);
  std::vector<Tensor> rows, columns, values;
  for (int64_t k = 0; k < angles; ++k) {
    const double theta =
        span / 180 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(angles);
    const double cosine = std::cos(theta), sine = std::sin(theta);
    const double wide = std::max(std::abs(cosine), std::abs(sine));
    const double narrow = std::min(std::abs(cosine), std::abs(sine));
    // The centres of the pixels, in detectors. A shadow is at most sqrt(2) long and meets three.
    const Tensor centre =
        (right * cosine + up * sine).flatten() + static_cast<double>(detectors - 1) / 2;
    for (const double beside : {-1.0, 0.0, 1.0}) {
      const Tensor detector = centre.round() + beside;
      const Tensor area = shadow_below(detector + 0.5 - centre, wide, narrow) -
                          shadow_below(detector - 0.5 - centre, wide, narrow);
      const Tensor seen =
          at::logical_and(area > 0, at::logical_and(detector >= 0, detector < detectors));
      rows.push_back(detector.masked_select(seen).to(at::kLong) + k * detectors);
      columns.push_back(pixel.masked_select(seen));
      values.push_back(area.masked_select(seen));
    }
  }
  return {angles * detectors, height * width, at::cat(rows), at::cat(columns), at::cat(values)};
}

Operator radon(
    int64_t angles, int64_t detectors, double span, const Shape& image, at::Device device) {
  const auto side = static_cast<double>(std::max(image[2], image[3]));
  const double scale = 1 / std::sqrt(static_cast<double>(angles) * side);
  const Operator strips =
      sparse_matrix(radon_matrix(angles, detectors, span, image[2], image[3]).scaled(scale),
                    image,
                    {image[1], angles, detectors},
                    device);
  // More than half a turn sees every line twice.
  const double turn = std::min(span, 180.0) / 180 * std::numbers::pi;
  return std::make_shared<Radon>(strips, turn * side);
}

}  // namespace eps
