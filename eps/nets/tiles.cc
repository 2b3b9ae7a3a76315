// Evaluation of a network tile by tile.
#include "eps/nets/tiles.h"

#include <algorithm>
#include <cmath>

namespace eps::nets {
namespace {

bool is_block(const Step& step) {
  return step.kind == Step::Kind::plain_block || step.kind == Step::Kind::block ||
         step.kind == Step::Kind::joined_block;
}

// Returns the channels of the state behind a step.
int64_t width_behind(const UNetPlan& plan, const Step& step) {
  const auto rows = [&](const ConvLayer& layer) {
    return plan.tensors[static_cast<size_t>(layer.weight)].shape[0];
  };
  if (is_block(step)) return rows(step.block.conv1);
  if (step.conv.kernel == 0) return plan.config.out_channels;
  return step.conv.resample == Resample::split ? rows(step.conv) / 4 : rows(step.conv);
}

int64_t rounded_up(int64_t n, int64_t divisor) { return (n + divisor - 1) / divisor * divisor; }

// Returns the side of equal tiles of about this size that cover the length.
int64_t even(int64_t length, int64_t size, int64_t divisor) {
  const int64_t count = (length + size - 1) / size;
  return rounded_up((length + count - 1) / count, divisor);
}

// A `Span` is a tile along one side: what is evaluated, and the part of it that is kept.
struct Span {
  int64_t begin, end;   // of the tile with its halo
  int64_t first, last;  // of the tile
  int64_t length() const { return last - first; }
};

std::vector<Span> spans(int64_t length, int64_t tile, int64_t halo) {
  std::vector<Span> all;
  for (int64_t first = 0; first < length; first += tile) {
    const int64_t last = std::min(first + tile, length);
    all.push_back({std::max<int64_t>(first - halo, 0), std::min(last + halo, length), first, last});
  }
  return all;
}

}  // namespace

double bytes_of_pixel(const UNetPlan& plan, at::ScalarType dtype) {
  using Kind = Step::Kind;
  // A layer holds its input, a normalised copy, what a convolution makes of that, and what the
  // library needs to make it.
  constexpr double kCopies = 4;
  std::vector<double> skips;  // numbers for each pixel of the finest level
  double width = static_cast<double>(plan.config.in_channels), scale = 1, waiting = 0, peak = 0;
  const auto push = [&](double numbers) {
    skips.push_back(numbers);
    waiting += numbers;
  };
  const auto pop = [&] {
    waiting -= skips.back();
    skips.pop_back();
  };
  for (const Step& step : plan.steps) {
    const Resample resample = is_block(step) ? step.block.conv0.resample : step.conv.resample;
    if (step.kind == Kind::merge) push(width * scale);
    if (halves(resample)) scale /= 4;
    if (resample == Resample::split || resample == Resample::up) scale *= 4;
    const double before = width * scale;
    width = static_cast<double>(width_behind(plan, step));
    peak = std::max(peak, waiting + before + kCopies * width * scale);
    if (step.kind == Kind::split || step.kind == Kind::joined_block) pop();
    if (step.kind == Kind::conv || step.kind == Kind::block) push(width * scale);
  }
  return peak * static_cast<double>(c10::elementSize(dtype));
}

Tiling tiling_for(const UNetPlan& plan,
                  at::ScalarType dtype,
                  at::IntArrayRef images,
                  int64_t bytes) {
  const int64_t n = images[0], height = images[2], width = images[3];
  if (plan.steps.empty()) return {height, width, 0, n};  // of unknown size
  const double pixels = static_cast<double>(bytes) / bytes_of_pixel(plan, dtype);
  const auto whole = static_cast<int64_t>(pixels / static_cast<double>(height * width));
  const auto radius = plan.receptive_radius();
  if (whole >= 1 || !radius) return {height, width, 0, std::clamp<int64_t>(whole, 1, n)};
  const int64_t divisor = plan.divisor(), halo = rounded_up(*radius, divisor);
  const auto side = static_cast<int64_t>(std::sqrt(pixels)) - 2 * halo;
  // Below the halo itself, most of the work is done twice.
  const int64_t tile = std::max(side / divisor * divisor, halo);
  return {even(height, tile, divisor), even(width, tile, divisor), halo, 1};
}

Tensor forward_in_tiles(const UNet& network,
                        const Tiling& tiling,
                        const Tensor& x,
                        const Tensor& noise_labels,
                        const Tensor& class_labels) {
  const int64_t n = x.size(0);
  const auto own = [](const Tensor& labels, int64_t begin, int64_t end) {
    return labels.defined() && labels.size(0) > 1 ? labels.slice(0, begin, end) : labels;
  };
  if (tiling.halo == 0 && tiling.images >= n) return network.forward(x, noise_labels, class_labels);
  const Tensor all =
      at::empty({n, network.config().out_channels, x.size(2), x.size(3)}, x.options());
  for (int64_t begin = 0; begin < n; begin += tiling.images) {
    const int64_t end = std::min(begin + tiling.images, n);
    for (const Span& rows : spans(x.size(2), tiling.height, tiling.halo))
      for (const Span& columns : spans(x.size(3), tiling.width, tiling.halo)) {
        const Tensor tile = x.slice(0, begin, end)
                                .slice(2, rows.begin, rows.end)
                                .slice(3, columns.begin, columns.end);
        const Tensor answer =
            network.forward(tile, own(noise_labels, begin, end), own(class_labels, begin, end));
        all.slice(0, begin, end)
            .slice(2, rows.first, rows.last)
            .slice(3, columns.first, columns.last)
            .copy_(answer.narrow(2, rows.first - rows.begin, rows.length())
                       .narrow(3, columns.first - columns.begin, columns.length()));
      }
  }
  return all;
}

}  // namespace eps::nets
