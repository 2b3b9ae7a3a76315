// Random crops: regions drawn on the CPU, gathered and reduced as a batch on any device.
#include "eps/data/crops.h"

#include <algorithm>
#include <cmath>

#include "eps/data/upload.h"
#include "eps/io/images/image.h"

namespace eps {
namespace {

constexpr int64_t kLobes = 3;
// The most pixels of windows that are gathered at once: their numbers take eight bytes each.
constexpr int64_t kPixelsAtOnce = int64_t{1} << 24;

// A table of regions has one row of float64 for each of these, and one column for each crop.
enum Row { kOffset, kHeight, kWidth, kTop, kLeft, kReduction, kTransposed, kRows };

Tensor row(const Tensor& regions, Row which) { return regions[which].unsqueeze(1); }

Tensor integers(const Tensor& regions, Row which) { return row(regions, which).to(at::kLong); }

Tensor up_to(int64_t count, const Tensor& like) { return at::arange(count, like.options()); }

Tensor lanczos(const Tensor& x) {
  return at::where(x.abs() < kLobes, at::sinc(x) * at::sinc(x / kLobes), at::zeros_like(x));
}

}  // namespace

Crops::Crops(Pictures pictures, const CropOptions& options)
    : pictures_(std::move(pictures)), options_(options) {
  const int64_t side = options.side;
  check(side >= 1, "crops: the side must be at least 1, got ", side);
  check(options.reduce >= 1, "crops: reduce must be at least 1, got ", options.reduce);
  int64_t places = 0, largest = 0;
  for (const Frame& frame : pictures_.frames) {
    places += (frame.height / side) * (frame.width / side);
    ends_.push_back(places);
    largest = std::max(largest, std::min(frame.height, frame.width));
  }
  check(places > 0,
        pictures_.name,
        ": a crop of ",
        side,
        " x ",
        side,
        " fits into none of ",
        pictures_.size(),
        " pictures");
  const auto extent = static_cast<double>(side);
  options_.reduce = std::min(options.reduce, static_cast<double>(largest) / extent);
  window_ = side;
  if (options_.reduce == 1) return;
  const double beyond = (kLobes - 0.5) * options_.reduce;  // reach of the filter
  margin_ = static_cast<int64_t>(std::ceil(beyond));
  window_ = margin_ + static_cast<int64_t>(std::ceil(extent * options_.reduce + beyond));
}

Shape Crops::image_shape() const { return {pictures_.channels(), options_.side, options_.side}; }

// Returns the table of regions, float64 on the CPU.
Tensor Crops::draw_regions(const std::vector<int64_t>& places, Rng& rng) const {
  const int64_t count = std::ssize(places);
  const Tensor numbers = rng.uniform({count, 4});
  const Tensor table = at::empty({kRows, count}, at::kDouble);
  const auto u = numbers.accessor<double, 2>();
  auto regions = table.accessor<double, 2>();
  for (int64_t i = 0; i < count; ++i) {
    const auto picture =
        std::upper_bound(ends_.begin(), ends_.end(), places[static_cast<size_t>(i)]);
    const Frame& frame = pictures_.frames[static_cast<size_t>(picture - ends_.begin())];
    const auto side = static_cast<double>(options_.side);
    const auto height = static_cast<double>(frame.height), width = static_cast<double>(frame.width);
    const double most = std::min(options_.reduce, std::min(height, width) / side);
    const double reduction = 1 + u[i][0] * (most - 1);
    const auto first = [&](double length, double chance) {
      return std::floor(chance * (std::floor(length - reduction * side) + 1));
    };
    regions[kOffset][i] = static_cast<double>(frame.offset);
    regions[kHeight][i] = height;
    regions[kWidth][i] = width;
    regions[kTop][i] = first(height, u[i][1]);
    regions[kLeft][i] = first(width, u[i][2]);
    regions[kReduction][i] = reduction;
    regions[kTransposed][i] = options_.transpose && u[i][3] < 0.5;
  }
  return table;
}

// Returns the windows (N, window, window, C) around the regions, uint8 where the pictures are.
// Pixels beyond the frame repeat its border; they will have no weight.
Tensor Crops::windows(const Tensor& regions) const {
  const Tensor steps = up_to(window_, regions).to(at::kLong) - margin_;
  const auto inside = [&](Row first, Row length) {
    return at::minimum((integers(regions, first) + steps).clamp_min(0),
                       integers(regions, length) - 1);
  };
  const Tensor begins =
      integers(regions, kOffset) + inside(kTop, kHeight) * integers(regions, kWidth);
  const Tensor index = begins.unsqueeze(2) + inside(kLeft, kWidth).unsqueeze(1);
  return pictures_.pixels.index_select(0, index.flatten())
      .view({regions.size(1), window_, window_, pictures_.channels()});
}

// Returns the weights (N, side, window) of a window's pixels along one axis in each pixel of the
// crop.
Tensor Crops::weights(const Tensor& first, const Tensor& length, const Tensor& reduction) const {
  const Tensor pixel = up_to(window_, first) - margin_;                   // from the region's first
  const Tensor centre = (up_to(options_.side, first) + 0.5) * reduction;  // (N, side)
  const Tensor distance = (pixel + 0.5 - centre.unsqueeze(2)) / reduction.unsqueeze(2);
  const Tensor place = first + pixel;  // (N, window)
  const Tensor in_frame = (place >= 0).logical_and(place < length).unsqueeze(1);
  const Tensor weight = lanczos(distance) * in_frame;
  return (weight / weight.sum(-1, /*keepdim=*/true)).to(at::kFloat);
}

// Returns the crops (N, C, side, side) in [-1, 1]: the rows of the windows are combined, then the
// columns.
Tensor Crops::reduced(const Tensor& windows, const Tensor& regions) const {
  const int64_t count = windows.size(0), side = options_.side, channels = windows.size(3);
  if (margin_ == 0) return from_uint8(windows.permute({0, 3, 1, 2}).contiguous());
  const auto along = [&](Row first, Row length) {
    return weights(row(regions, first), row(regions, length), row(regions, kReduction));
  };
  const Tensor pixels = from_uint8(windows).view({count, window_, window_ * channels});
  const Tensor rows = at::bmm(along(kTop, kHeight), pixels)
                          .view({count, side, window_, channels})
                          .permute({0, 3, 1, 2})
                          .reshape({count, channels * side, window_});
  return at::bmm(rows, along(kLeft, kWidth).transpose(1, 2))
      .clamp_(-1, 1)
      .view({count, channels, side, side});
}

LabelledImages Crops::draw(const std::vector<int64_t>& places, Rng& rng, at::Device device) const {
  const Tensor near = upload(draw_regions(places, rng), pictures_.pixels.device());
  const Tensor regions = upload(near, device);
  const int64_t count = std::ssize(places);
  const int64_t part = std::max<int64_t>(kPixelsAtOnce / (window_ * window_), 1);
  std::vector<Tensor> parts;
  for (int64_t begin = 0; begin < count; begin += part) {
    const Tensor cut = windows(near.slice(1, begin, begin + part));
    parts.push_back(reduced(upload(cut, device), regions.slice(1, begin, begin + part)));
  }
  const Tensor crops = at::cat(parts);
  if (!options_.transpose) return {crops, {}};
  const Tensor transposed = regions[kTransposed].view({count, 1, 1, 1}) > 0;
  return {at::where(transposed, crops.transpose(2, 3), crops), {}};
}

}  // namespace eps
