// Small holes of a large picture, restored from their surroundings.
#include "eps/restore/holes.h"

#include <algorithm>

#include "eps/base/streams.h"
#include "eps/metrics/interval.h"
#include "eps/operators/factories.h"

namespace eps {
namespace {

constexpr int64_t kCell = 32;  // pixels; holes in neighbouring cells are one group

// A `Cells` numbers the groups of cells that have holes.
class Cells {
 public:
  explicit Cells(const Tensor& holes)
      : rows_((holes.size(0) + kCell - 1) / kCell), columns_((holes.size(1) + kCell - 1) / kCell) {
    const Tensor padded = at::constant_pad_nd(
        holes.to(at::kByte),
        {0, columns_ * kCell - holes.size(1), 0, rows_ * kCell - holes.size(0)});
    const Tensor any = padded.view({rows_, kCell, columns_, kCell}).amax({1, 3}).contiguous();
    filled_.assign(any.data_ptr<uint8_t>(), any.data_ptr<uint8_t>() + any.numel());
    groups_.assign(filled_.size(), -1);
    for (int64_t cell = 0; cell < std::ssize(filled_); ++cell)
      if (free(cell)) flood(cell, count_++);
  }

  int64_t count() const { return count_; }
  // Returns the group of each cell, -1 without holes: (rows, columns).
  Tensor groups() const { return at::tensor(groups_, at::kLong).view({rows_, columns_}); }

 private:
  bool free(int64_t cell) const {
    return filled_[static_cast<size_t>(cell)] != 0 && groups_[static_cast<size_t>(cell)] < 0;
  }
  void flood(int64_t first, int64_t group) {
    std::vector<int64_t> open = {first};
    groups_[static_cast<size_t>(first)] = group;
    while (!open.empty()) {
      const int64_t row = open.back() / columns_, column = open.back() % columns_;
      open.pop_back();
      for (int64_t r = std::max<int64_t>(row - 1, 0); r <= std::min(row + 1, rows_ - 1); ++r)
        for (int64_t c = std::max<int64_t>(column - 1, 0); c <= std::min(column + 1, columns_ - 1);
             ++c) {
          const int64_t cell = r * columns_ + c;
          if (!free(cell)) continue;
          groups_[static_cast<size_t>(cell)] = group;
          open.push_back(cell);
        }
    }
  }

  int64_t rows_, columns_, count_ = 0;
  std::vector<uint8_t> filled_;
  std::vector<int64_t> groups_;
};

// Returns the first number of the true entries along a dimension, and the one behind the last.
std::pair<int64_t, int64_t> extent(const Tensor& holes, int64_t dim) {
  const Tensor places = holes.any(1 - dim).nonzero().flatten();
  return {places[0].item<int64_t>(), places[-1].item<int64_t>() + 1};
}

}  // namespace

std::vector<Window> windows_around(const Tensor& measured, int64_t margin, int64_t divisor) {
  const Tensor holes = measured.to(at::kCPU).logical_not();
  const int64_t height = holes.size(0), width = holes.size(1);
  const Cells cells(holes);
  const Tensor groups = cells.groups();
  std::vector<Window> windows;
  for (int64_t group = 0; group < cells.count(); ++group) {
    // The group's cells lead to its holes.
    const Tensor own = groups == group;
    const auto [first_row, last_row] = extent(own, 0);
    const auto [first_column, last_column] = extent(own, 1);
    const int64_t top = first_row * kCell, bottom = std::min(last_row * kCell, height);
    const int64_t left = first_column * kCell, right = std::min(last_column * kCell, width);
    const Tensor inside = own.narrow(0, first_row, last_row - first_row)
                              .narrow(1, first_column, last_column - first_column)
                              .repeat_interleave(kCell, 0)
                              .repeat_interleave(kCell, 1)
                              .slice(0, 0, bottom - top)
                              .slice(1, 0, right - left)
                              .logical_and(holes.slice(0, top, bottom).slice(1, left, right));
    const auto [above, below] = extent(inside, 0);
    const auto [before, behind] = extent(inside, 1);
    Window window;
    window.top = std::max<int64_t>(top + above - margin, 0) / divisor * divisor;
    window.left = std::max<int64_t>(left + before - margin, 0) / divisor * divisor;
    window.height = std::min(top + below + margin, height) - window.top;
    window.width = std::min(left + behind + margin, width) - window.left;
    window.holes = at::zeros({window.height, window.width}, at::kBool);
    window.holes.narrow(0, top + above - window.top, below - above)
        .narrow(1, left + before - window.left, behind - before)
        .copy_(inside.slice(0, above, below).slice(1, before, behind));
    windows.push_back(window);
  }
  return windows;
}

std::vector<Window> cheapest(std::vector<Window> windows, const Problem& problem) {
  const Shape image = problem.image();
  int64_t pixels = 0;
  for (const Window& window : windows) pixels += window.pixels();
  if (pixels <= image[2] * image[3]) return windows;
  const Window whole{
      .height = image[2], .width = image[3], .holes = at::zeros({image[2], image[3]}, at::kBool)};
  for (const Window& window : windows) window.of(whole.holes).logical_or_(window.holes);
  return {whole};
}

Problem within(const Problem& problem, const Window& window) {
  Problem part = problem;
  part.y = window.of(problem.y).contiguous();
  const Tensor mask = problem.A->format().measured(at::ones_like(problem.y)).slice(1, 0, 1);
  part.A = inpainting(window.of(mask).contiguous());
  return part;
}

std::pair<Restoration, Tensor> restore_holes(const MethodChoice& choice,
                                             const Denoiser& denoiser,
                                             const Problem& problem,
                                             const std::vector<Window>& windows,
                                             const RestorationOptions& options) {
  constexpr double kTail = 1.6449;  // of the normal distribution beyond 5%
  check(!windows.empty(), "restore_holes: there is no hole");
  const double sigma_y = problem.sigma_y.item<double>();
  const Tensor y = problem.y.to(at::kCPU, at::kDouble)[0].clamp(-1, 1);
  const bool is_spread = interval_kind(options.samples) != "none";
  Restoration all;
  Tensor first;
  all.samples = y.unsqueeze(0).repeat({options.samples, 1, 1, 1});
  all.mean = y.clone();
  if (is_spread) {
    all.deviation = at::full_like(y, sigma_y);
    all.low = (y - kTail * sigma_y).clamp(-1, 1);
    all.high = (y + kTail * sigma_y).clamp(-1, 1);
  }
  double misfit = 0, seen = 0;
  for (size_t k = 0; k < windows.size(); ++k) {
    const Window& window = windows[k];
    RestorationOptions own = options;
    own.seed = derive_seed(options.seed, Stream::window, k);
    if (options.on_mean)
      own.on_mean = [&](const std::function<Tensor()>& mean) {
        options.on_mean([&] {
          const Tensor whole = all.mean.clone(), place = window.of(whole);
          place.copy_(at::where(window.holes, mean(), place));
          return whole;
        });
      };
    const Restoration part = restore(choice, denoiser, within(problem, window), own);
    if (k == 0) first = part.samples;
    const auto put = [&](const Tensor& whole, const Tensor& values) {
      if (!whole.defined()) return;
      const Tensor place = window.of(whole);
      place.copy_(at::where(window.holes, values, place));
    };
    put(all.samples, part.samples);
    put(all.mean, part.mean);
    put(all.deviation, part.deviation);
    put(all.low, part.low);
    put(all.high, part.high);
    misfit += part.chi2 * static_cast<double>(part.measurements);
    seen += static_cast<double>(part.measurements);
    all.cost += part.cost;
    all.seconds += part.seconds;
  }
  all.chi2 = misfit / seen;
  all.measurements = static_cast<int64_t>(problem.measurements().item<double>());
  return {all, first};
}

}  // namespace eps
