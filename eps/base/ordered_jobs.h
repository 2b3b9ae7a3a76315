// Independent jobs in parallel, with rows reported in order.
#pragma once

#include <ATen/Parallel.h>

#include <atomic>
#include <mutex>

#include "eps/base/core.h"

namespace eps {

template <class Row>
using OnRow = std::function<void(const Row&)>;

// Runs the jobs in parallel, each on one thread: their tensors are too small to divide. Reports the
// rows in the order of the jobs, each row as soon as all rows before it exist.
template <class Row>
std::vector<Row> run_in_order(const std::vector<std::function<void(const OnRow<Row>&)>>& jobs,
                              const OnRow<Row>& report) {
  std::vector<std::vector<Row>> done(jobs.size());
  std::vector<bool> finished(jobs.size(), false);
  std::vector<Row> rows;
  std::atomic<size_t> next{0};
  size_t reported = 0;
  std::mutex mutex;
  at::parallel_for(0, at::get_num_threads(), 1, [&](int64_t, int64_t) {
    for (size_t job; (job = next++) < jobs.size();) {
      jobs[job]([&](const Row& row) { done[job].push_back(row); });
      const std::lock_guard lock(mutex);
      finished[job] = true;
      for (; reported < jobs.size() && finished[reported]; ++reported) {
        for (const auto& row : done[reported]) {
          rows.push_back(row);
          if (report) report(row);
        }
      }
    }
  });
  return rows;
}

}  // namespace eps
