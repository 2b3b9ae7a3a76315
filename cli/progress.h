// A progress bar on stderr, shown only where stderr is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace eps::cli {

class Progress {
 public:
  // `unit` names the things counted, such as "evaluations".
  Progress(std::string unit, int64_t total);
  ~Progress();
  void advance(int64_t count = 1);

 private:
  void draw() const;

  const std::string unit_;
  const int64_t total_;
  const bool visible_;
  const std::chrono::steady_clock::time_point start_;
  int64_t done_ = 0;
};

}  // namespace eps::cli
