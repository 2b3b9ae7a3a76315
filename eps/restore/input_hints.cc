// Signs that a measurement or its mask is not what it is taken for.
#include "eps/restore/input_hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "eps/io/array.h"
#include "eps/restore/noise_level.h"

namespace eps {
namespace {

constexpr int64_t kFewPixels = 16;

double share(const Tensor& which) { return which.to(at::kDouble).mean().item<double>(); }

// Returns the pixels of (1, C, H, W) where a mask (H, W) holds, as (pixels, C).
Tensor pixels_of(const Tensor& y, const Tensor& mask) {
  return y[0].permute({1, 2, 0}).index({mask});
}

// Returns the root mean square of the deviation from the median colour. Infinite of values that are
// not finite, which holes may have.
double spread(const Tensor& pixels) {
  return (pixels - std::get<0>(pixels.median(0, true))).square().mean().sqrt().item<double>();
}

// Returns where one of the four neighbours of a pixel is in the mask (H, W).
Tensor beside(const Tensor& mask) {
  const int64_t height = mask.size(0), width = mask.size(1);
  const Tensor wide = at::constant_pad_nd(mask, {1, 1, 1, 1}, 0);
  const auto moved = [&](int64_t row, int64_t column) {
    return wide.narrow(0, row, height).narrow(1, column, width);
  };
  return moved(0, 1) | moved(2, 1) | moved(1, 0) | moved(1, 2);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || std::filesystem::equivalent(a, b, none);
}

}  // namespace

std::vector<std::string> range_hints(const std::string& path, const Tensor& y) {
  constexpr int64_t kEnough = 1000000;  // values; libtorch's quantile takes 16 times as many
  Tensor values = y.masked_select(y.isfinite()).to(at::kDouble);
  if (values.numel() > kEnough) values = values.slice(0, 0, {}, values.numel() / kEnough + 1);
  const int64_t neighbours = y.size(1) * (y.size(2) - 1) * (y.size(3) - 1);
  if (values.numel() < kFewPixels) return {};
  const double noise = neighbours < 30 ? 0 : robust_noise_level(y.nan_to_num(0.5, 0.5, 0.5));
  const double reach = 0.02 + 2.5 * std::min(noise, 0.1);
  const auto quantile = [&](double q) { return values.quantile(q).item<double>(); };
  const double dark = quantile(0.02), bright = quantile(0.98);
  // An image that is only bright has no dark pixels at the one level of 0 among all from -1 on.
  const bool starts_at_zero = dark > -reach && dark < 0.3, ends_at_one = bright < 1 + reach;
  if (!starts_at_zero || !ends_at_one || values.mean().item<double>() < 0.15) return {};
  return {
      fmt::format("{}: its values seem to lie in [0, 1]; units of [-1, 1] are wanted: 2 y - 1, and "
                  "the noise is twice as large there",
                  path)};
}

std::vector<std::string> mask_hints(const std::string& path,
                                    const Tensor& y,
                                    const Tensor& measured) {
  const Tensor kept = (measured[0] != 0).all(0), holes = kept.logical_not();
  const auto count = [](const Tensor& mask) { return mask.sum().item<int64_t>(); };
  if (count(kept) < kFewPixels || count(holes) < kFewPixels) return {};
  const double of_holes = spread(pixels_of(y, holes)), of_kept = spread(pixels_of(y, kept));
  if (of_holes > 0.1 && of_kept < of_holes / 10)
    return {
        fmt::format("{}: the mask seems to be inverted: the {:.0f}% of the pixels that it calls "
                    "measured are of one colour, and the picture is in its holes; white or 1 "
                    "is measured",
                    path,
                    100 * share(kept))};
  if (of_holes != 0) return {};
  const Tensor colour = pixels_of(y, holes)[0].view({-1, 1, 1});
  const Tensor alike = (y[0] == colour).all(0) & kept, rim = beside(holes) & kept;
  const double on_rim = share(alike.masked_select(rim)),
               elsewhere = share(alike.masked_select(kept & rim.logical_not()));
  if (on_rim < 0.5 || elsewhere > 0.1) return {};
  return {
      fmt::format("{}: the mask seems to be too small: {:.0f}% of the measured pixels beside its "
                  "holes have the colour of the holes",
                  path,
                  100 * on_rim)};
}

std::vector<std::string> kspace_hints(const std::string& path, const Tensor& y, bool centred) {
  const Tensor power = y[0].square().sum(at::IntArrayRef({0, 3}));
  const auto in_middle = [](const Tensor& of) {
    const int64_t height = of.size(0), width = of.size(1);
    return of.narrow(0, height / 2 - height / 8, std::max<int64_t>(1, height / 4))
        .narrow(1, width / 2 - width / 8, std::max<int64_t>(1, width / 4))
        .sum()
        .item<double>();
  };
  const double middle = in_middle(power), corners = in_middle(at::fft_fftshift(power));
  if (!centred && middle >= 4 * corners)
    return {path +
            ": its largest numbers are in the middle: k-space seems to be centred; the zero "
            "frequency is wanted first, or declared as centred"};
  if (centred && corners >= 4 * middle)
    return {path +
            ": declared as centred, but its largest numbers are in the corners: the zero frequency "
            "seems to be first"};
  return {};
}

std::vector<std::string> picture_hints(const std::string& path,
                                       const Picture& picture,
                                       bool is_mask) {
  std::vector<std::string> hints;
  const double transparent =
      picture.alpha.defined() ? share(grey_levels(picture.alpha) < 127.5) : 0;
  if (transparent > 0 && !is_mask)
    hints.push_back(
        fmt::format("{}: {:.3g}% of its pixels are transparent, and the colour under them is taken "
                    "as measured where no mask hides it; the same file serves as the mask, too",
                    path,
                    100 * transparent));
  if (picture.frames > 1)
    hints.push_back(fmt::format(
        "{}: an animation of {} frames, of which only the first is read", path, picture.frames));
  if (picture.jpeg_quality && *picture.jpeg_quality < kFineJpeg)
    hints.push_back(
        fmt::format("{}: a JPEG of quality {} (estimated; {} is fine): its blocks and ringing are "
                    "no white noise, and samples may keep them as detail; use a PNG that was never "
                    "a JPEG, or state a larger noise",
                    path,
                    *picture.jpeg_quality,
                    kFineJpeg));
  return hints;
}

std::vector<std::string> measurement_hints(const std::string& path,
                                           const std::optional<Picture>& picture,
                                           bool are_bytes,
                                           const Tensor& y,
                                           const Tensor& measured,
                                           const OperatorChoice& chosen) {
  const std::string& mask = chosen.mask;
  if (y.dim() == 5) return kspace_hints(path, y, chosen.centred);
  if (y.dim() != 4) return {};
  std::vector<std::string> hints;
  const auto add = [&](const std::vector<std::string>& more) {
    hints.insert(hints.end(), more.begin(), more.end());
  };
  if (picture)
    add(picture_hints(path, *picture, !mask.empty() && is_same_file(mask, path)));
  else if (!are_bytes)
    add(range_hints(path, y));
  if (!mask.empty()) add(mask_hints(mask, y, measured));
  return hints;
}

}  // namespace eps
