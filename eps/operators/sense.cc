// Cartesian parallel MRI (SENSE, Pruessmann et al. 1999): coil k measures m F (s_k x).
//
// The image x is complex, two channels, real and imaginary part; s_k is the coil's sensitivity, F
// the unitary Fourier transform, m the mask of the measured frequencies. Complex measurements are
// pairs of reals with noise sigma_y in each. A'y = sum_k conj(s_k) F^H m y_k.
#include <cmath>
#include <numbers>

#include "eps/operators/factories.h"
#include "eps/operators/k_space.h"
#include "eps/operators/parameter_file.h"
#include "eps/operators/registry.h"

namespace eps {
namespace {

constexpr const char* kUnitary = "ortho";

class Sense final : public LinearOperator {
 public:
  Sense(const Tensor& maps, const Tensor& mask)
      : maps_(maps.to(at::kComplexDouble)), mask_(mask.to(at::kDouble)) {}

  Tensor apply(const Tensor& x) const override {
    check_image_size("sense", x, maps_.size(1), maps_.size(2));
    check(x.size(1) == 2,
          "sense: a complex image has 2 channels, real and imaginary part, got ",
          x.size(1));
    const Tensor image = at::view_as_complex(x.permute({0, 2, 3, 1}).contiguous()).unsqueeze(1);
    const Tensor seen = image * maps_.to(image.options());
    return measured(at::view_as_real(at::fft_fft2(seen, c10::nullopt, {-2, -1}, kUnitary)));
  }
  Tensor adjoint(const Tensor& y) const override {
    check(y.dim() == 5 && y.size(1) == maps_.size(0) && y.size(2) == maps_.size(1) &&
              y.size(3) == maps_.size(2) && y.size(4) == 2,
          "sense: a measurement of ",
          maps_.size(0),
          " coils is N x ",
          maps_.size(0),
          " x ",
          maps_.size(1),
          " x ",
          maps_.size(2),
          " x 2, got ",
          to_string(y.sizes()));
    const Tensor k_space = at::view_as_complex(measured(y).contiguous());
    const Tensor seen = at::fft_ifft2(k_space, c10::nullopt, {-2, -1}, kUnitary);
    const Tensor image = (seen * maps_.to(seen.options()).conj()).sum(1);
    return at::view_as_real(image).permute({0, 3, 1, 2}).contiguous();
  }

  Tensor measured(const Tensor& y) const override {
    return y * mask_.to(y.options()).unsqueeze(1).unsqueeze(-1);
  }
  // The transform of an impulse has the same magnitude at every frequency.
  Tensor structural_diagonal(const Tensor& /*like*/) const override {
    const Tensor seen = maps_.abs().square().sum(0);
    return (mask_.square().mean({1, 2}, true) * seen).unsqueeze(1);
  }
  std::map<std::string, Tensor> parameters() const override {
    return {{"coils", at::view_as_real(maps_).unsqueeze(0)}, {"mask", mask_}};
  }
  int64_t batch() const override { return mask_.size(0); }

 private:
  const Tensor maps_;  // (K, H, W)
  const Tensor mask_;  // (N or 1, H, W), zero frequency first
};

// Returns the maps of coils on the circle through the middles of the image's sides: Gaussians as
// wide as half the image, each with a phase that turns once across it. They are divided by the root
// of their sum of squares, and so see every pixel with the power 1 together.
Tensor simulated_coils(int64_t count, int64_t height, int64_t width) {
  const Tensor rows = at::linspace(-1, 1, height, at::kDouble).unsqueeze(1);
  const Tensor columns = at::linspace(-1, 1, width, at::kDouble);
  std::vector<Tensor> maps;
  for (int64_t k = 0; k < count; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(count);
    const Tensor below = rows - std::sin(angle), beside = columns - std::cos(angle);
    const Tensor size = (-(below.square() + beside.square()) / 2).exp();
    const Tensor phase = std::numbers::pi * (rows * std::cos(angle) + columns * std::sin(angle));
    maps.push_back(at::polar(size, phase));
  }
  const Tensor all = at::stack(maps);
  return all / all.abs().square().sum(0).sqrt();
}

bool simulates_coils(const Spec& spec) {
  return spec.text("coils").find_first_not_of("0123456789") == std::string::npos;
}

Operator make_sense(const Spec& spec, const Tensor& like, Rng& rng) {
  const Tensor maps =
      simulates_coils(spec)
          ? simulated_coils(
                static_cast<int64_t>(spec.range("coils", 1, 1024).low), like.size(2), like.size(3))
                .to(like.device())
          : read_coils_file(spec.text("coils"), like);
  return sense(maps,
               spec.has("mask") ? read_frequency_mask(spec, spec.text("mask"), like)
                                : draw_columns(spec, like, rng));
}

std::vector<Field> sense_fields() {
  std::vector<Field> fields = {
      {"coils",
       "4",
       "coil maps: .npy or .safetensors, K x H x W complex or K x H x W x 2; or the number of "
       "simulated coils"},
      {"mask", "", "k-space mask: PNG, JPEG, .npy or .safetensors; instead of random columns"},
      zero_field()};
  for (const Field& field : column_fields()) fields.push_back(field);
  return fields;
}

EPS_OPERATOR({.name = "sense",
              .summary = "multi-coil MRI of a complex image, its real and imaginary part",
              .example = "sense:coils=4,acceleration=2,center=0.125",
              .fields = sense_fields(),
              .strengths = {"acceleration"},
              .make = make_sense,
              .measurement_dims = 5,
              .channels = 2,
              .mixes_channels = true,
              .image_shape =
                  [](const Spec&, const Shape& y) {
                    check(y.size() == 5 && y[4] == 2,
                          "sense: a measurement is N x K x H x W x 2, got ",
                          to_string(y));
                    return Shape{y[0], 2, y[2], y[3]};
                  },
              .is_random =
                  [](const Spec& spec) {
                    return !spec.has("mask") && spec.real("acceleration") > 1;
                  }});

}  // namespace

Operator sense(const Tensor& maps, const Tensor& mask) {
  check(maps.dim() == 3 && mask.dim() == 3 && maps.sizes().slice(1) == mask.sizes().slice(1),
        "sense: maps must be K x H x W and the mask N x H x W, got ",
        to_string(maps.sizes()),
        " and ",
        to_string(mask.sizes()));
  return std::make_shared<Sense>(maps, mask);
}

}  // namespace eps
