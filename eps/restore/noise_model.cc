// The noise of a user's measurement, where one number does not describe it.
#include "eps/restore/noise_model.h"

#include <fmt/ranges.h>

#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/io/images/picture.h"
#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"
#include "eps/operators/whitened.h"

namespace eps {
namespace {

// Refuses measurements that are no images, such as k-space and flat ones.
void check_image_like(const std::string& model, const Tensor& y) {
  check(y.dim() == 4,
        model,
        ": is for measurements that are images; this one is ",
        to_string(y.sizes()),
        ", and its noise is stated as one number");
}

// Reads deviations (1, C or 1, H, W) for a measurement of the shape of y.
Tensor read_deviations(const std::string& path, const Tensor& y, const std::optional<Cut>& cut) {
  check_image_like(path, y);
  const bool is_array = is_array_path(path);
  Tensor map = is_array ? read_array(path).to(at::kDouble) : read_grey_levels(path) * kGreyLevel;
  check(map.dim() == 2 || map.dim() == 3,
        path,
        ": deviations are H x W or C x H x W, got ",
        to_string(map.sizes()));
  while (map.dim() < 4) map = map.unsqueeze(0);
  // A picture of grey levels has three equal channels.
  if (!is_array && map.size(1) == 3) map = map.mean(1, true);
  const Tensor wrong = map.masked_select((map > 0).logical_not());
  check(wrong.numel() == 0,
        path,
        ": deviations must be > 0, found ",
        wrong.numel() == 0 ? 0 : wrong[0].item<double>(),
        is_array ? "" : "; a picture of 8 bits holds whole grey levels from 1 on");
  check(map.isfinite().any().item<bool>(), path, ": every deviation is infinite");
  if (cut && cut->is_frame(map)) map = cut->of(map);
  const bool fits = map.size(2) == y.size(2) && map.size(3) == y.size(3) &&
                    (map.size(1) == 1 || map.size(1) == y.size(1));
  check(fits,
        path,
        ": deviations for ",
        map.size(1),
        map.size(1) == 1 ? " channel of " : " channels of ",
        size_words(map.size(3), map.size(2)),
        "; the measurement has ",
        y.size(1),
        " of ",
        y.size(3),
        " x ",
        y.size(2));
  return map;
}

Tensor read_spectrum(const std::string& path, const Tensor& y, const std::optional<Cut>& cut) {
  check_image_like(path, y);
  const Tensor power = read_array(path).to(at::kDouble);
  require_finite(power, path);
  const int64_t height = y.size(2), width = y.size(3), half = width / 2 + 1;
  const bool of_frame = cut && power.dim() == 2 && power.size(0) == cut->full_height;
  check(!of_frame || cut->full_height == height,
        path,
        ": a spectrum of the whole frame, ",
        to_string(power.sizes()),
        ", but only ",
        height,
        " x ",
        width,
        " pixels are used, as nothing is known beyond the frame: the spectrum of those is wanted, "
        "or the border that the blur has");
  check(power.dim() == 2 && power.size(0) == height &&
            (power.size(1) == width || power.size(1) == half),
        path,
        ": a spectrum of ",
        height,
        " x ",
        width,
        " (fft2) or ",
        half,
        " (rfft2) values is wanted, got ",
        to_string(power.sizes()));
  check((power > 0).all().item<bool>(),
        path,
        ": powers must be > 0, found ",
        power.min().item<double>());
  return power.slice(1, 0, half);
}

}  // namespace

bool NoiseModel::is_white() const {
  return channels.empty() && map.empty() && spectrum.empty() && !growth;
}

std::string NoiseModel::words() const {
  if (!map.empty()) return "by the map " + map;
  if (!spectrum.empty()) return "with the spectrum " + spectrum;
  if (growth) return fmt::format("growing with the signal (approximately), b={:g}", *growth);
  return channels.empty() ? "" : fmt::format("sigma={:g} by channel", fmt::join(channels, ", "));
}

std::vector<std::string> NoiseModel::stated() const {
  std::vector<std::string> all;
  if (!channels.empty()) all.emplace_back("by channel");
  if (!map.empty()) all.push_back("by the map " + map);
  if (!spectrum.empty()) all.push_back("by the spectrum " + spectrum);
  if (growth) all.emplace_back("growing with the signal");
  return all;
}

bool Cut::is_frame(const Tensor& picture) const {
  return picture.size(-2) == full_height && picture.size(-1) == full_width;
}

Tensor Cut::of(const Tensor& picture) const {
  return picture.narrow(-2, top, height).narrow(-1, left, width);
}

Tensor deviations(const NoiseModel& noise,
                  const Tensor& y,
                  double sigma_y,
                  const std::optional<Cut>& cut) {
  if (!noise.spectrum.empty()) return {};
  if (!noise.map.empty()) return read_deviations(noise.map, y, cut).to(y.device());
  if (noise.growth) {
    check_image_like("noise that grows with the signal", y);
    return signal_deviation(y, sigma_y, *noise.growth);
  }
  if (noise.channels.empty()) return at::full({1, 1, 1, 1}, sigma_y, y.options());
  check(y.dim() == 4 && y.size(1) == static_cast<int64_t>(noise.channels.size()),
        "noise: ",
        noise.channels.size(),
        " deviations for a measurement of ",
        to_string(y.sizes()),
        y.dim() == 4 ? fmt::format("; wanted {}, one for each channel", y.size(1))
                     : ", which has no channels");
  return at::tensor(noise.channels, at::kDouble).reshape({1, -1, 1, 1}).to(y.device());
}

Whitening whitening_of(const NoiseModel& noise,
                       const Problem& problem,
                       const std::optional<Cut>& cut) {
  const Tensor& y = problem.y;
  Whitening white;
  if (noise.spectrum.empty()) {
    white.deviation = deviations(noise, y, problem.sigma_y.item<double>(), cut);
    white.of = [d = white.deviation](const Problem& one) { return whiten(one, d); };
  } else {
    const Tensor power = read_spectrum(noise.spectrum, y, cut).to(y.device());
    white.deviation = spectral_mean(power, y.size(3)).sqrt().reshape({1, 1, 1, 1});
    white.of = [power](const Problem& one) { return whiten_spectrum(one, power); };
  }
  // The identity becomes W itself.
  white.W = white.of({.A = identity(), .y = y}).A;
  return white;
}

Problem whitened(const NoiseModel& noise, const Problem& problem, const std::optional<Cut>& cut) {
  return whitening_of(noise, problem, cut).of(problem);
}

Tensor draw_noise(const NoiseModel& noise,
                  const Tensor& clean,
                  double sigma_y,
                  Rng& rng,
                  const std::optional<Cut>& cut) {
  const Tensor white = rng.normal(clean.sizes().vec(), clean.options());
  if (noise.spectrum.empty()) return deviations(noise, clean, sigma_y, cut) * white;
  const Tensor power = read_spectrum(noise.spectrum, clean, cut);
  return filter_spectrum(white, power.to(clean.device()).sqrt());
}

}  // namespace eps
