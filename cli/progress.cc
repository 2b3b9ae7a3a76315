// A progress bar on stderr.
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace eps::cli {

Progress::Progress(std::string unit, int64_t total)
    : unit_(std::move(unit)),
      total_(std::max<int64_t>(total, 1)),
      visible_(isatty(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (visible_ && done_ > 0) fmt::print(stderr, "\n");
}

void Progress::advance(int64_t count) {
  done_ += count;
  if (visible_) draw();
}

void Progress::draw() const {
  constexpr int64_t kWidth = 30;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const auto done = static_cast<double>(done_), total = static_cast<double>(total_);
  const int64_t filled = std::min(kWidth, kWidth * done_ / total_);
  fmt::print(stderr,
             "\r[{:#<{}}{:.<{}}] {}/{} {}, {:.1f}/s, {:.0f} s left ",
             "",
             filled,
             "",
             kWidth - filled,
             done_,
             total_,
             unit_,
             done / std::max(seconds, 1e-9),
             seconds / done * std::max(total - done, 0.0));
}

}  // namespace eps::cli
