// The noise of a user's measurement, where one number does not describe it.
#include "eps/restore/noise_model.h"

#include <fmt/ranges.h>

#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/math/spectrum.h"
#include "eps/operators/whitened.h"
#include "eps/restore/restoration_report.h"

namespace eps {
namespace {

Tensor read_deviations(const std::string& path) {
  const bool is_array = is_array_path(path);
  Tensor map =
      is_array ? read_array(path).to(at::kDouble) : read_image(path).to(at::kDouble) * kGreyLevel;
  check(map.dim() == 2 || map.dim() == 3,
        path,
        ": deviations are H x W or C x H x W, got ",
        to_string(map.sizes()));
  while (map.dim() < 4) map = map.unsqueeze(0);
  // A picture of grey levels has three equal channels.
  if (!is_array && map.size(1) == 3) map = map.mean(1, true);
  check((map > 0).all().item<bool>(),
        path,
        ": deviations must be > 0, found ",
        map.min().item<double>(),
        is_array ? "" : "; a picture holds whole grey levels from 1 on");
  return map;
}

Tensor read_spectrum(const std::string& path, const Tensor& y) {
  const Tensor power = read_array(path).to(at::kDouble);
  require_finite(power, path);
  const int64_t half = y.size(3) / 2 + 1;
  check(y.dim() == 4 && power.dim() == 2 && power.size(0) == y.size(2) &&
            (power.size(1) == y.size(3) || power.size(1) == half),
        path,
        ": a spectrum of ",
        y.size(2),
        " x ",
        y.size(3),
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

Tensor deviations(const NoiseModel& noise, const Tensor& y, double sigma_y) {
  if (!noise.spectrum.empty()) return {};
  if (!noise.map.empty()) return read_deviations(noise.map).to(y.device());
  if (noise.growth) return signal_deviation(y, sigma_y, *noise.growth);
  if (noise.channels.empty()) return at::full({1, 1, 1, 1}, sigma_y, y.options());
  check(y.dim() == 4 && y.size(1) == static_cast<int64_t>(noise.channels.size()),
        "noise: ",
        noise.channels.size(),
        " deviations for a measurement of ",
        to_string(y.sizes()));
  return at::tensor(noise.channels, at::kDouble).reshape({1, -1, 1, 1}).to(y.device());
}

Problem whitened(const NoiseModel& noise, const Problem& problem) {
  if (!noise.spectrum.empty())
    return whiten_spectrum(problem,
                           read_spectrum(noise.spectrum, problem.y).to(problem.y.device()));
  return whiten(problem, deviations(noise, problem.y, problem.sigma_y.item<double>()));
}

Tensor draw_noise(const NoiseModel& noise, const Tensor& clean, double sigma_y, Rng& rng) {
  const Tensor white = rng.normal(clean.sizes().vec(), clean.options());
  if (noise.spectrum.empty()) return deviations(noise, clean, sigma_y) * white;
  return filter_spectrum(white, read_spectrum(noise.spectrum, clean).to(clean.device()).sqrt());
}

}  // namespace eps
