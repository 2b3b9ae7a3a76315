// The processes of one run, over libtorch's c10d: Gloo between CPUs, NCCL between GPUs.
//
// Every rank must call sum(), broadcast() and barrier() in the same order. A rank that is lost, or
// that keeps the other ranks waiting beyond the time-out, ends them with an eps::Error.
#pragma once

#include <chrono>

#include "eps/base/core.h"
#include "eps/runtime/rank_environment.h"

namespace eps {

// A `Ranks` is one process's connection to the other processes of a run. With one rank every
// function does nothing.
class Ranks {
 public:
  Ranks() = default;  // one rank

  // Waits until all ranks of the environment have met at MASTER_ADDR (127.0.0.1 when not set) and
  // MASTER_PORT. Tensors summed later must be on `device`. The process ignores SIGPIPE from then
  // on.
  static Ranks from_environment(at::Device device,
                                std::chrono::seconds timeout = std::chrono::seconds(50));

  int64_t rank() const { return numbers_.rank; }
  int64_t size() const { return numbers_.size; }
  bool first() const { return rank() == 0; }  // the rank that writes

  // A `Pending` is an unfinished sum.
  class Pending {
   public:
    Pending() = default;
    // Returns when the tensor holds the sum. On a GPU the current stream waits too.
    void wait();

   private:
    friend class Ranks;
    std::function<void()> wait_;
  };

  // Sums the tensor over all ranks, in place. The tensor is dense and has the same shape on all
  // ranks.
  void sum(const Tensor& tensor) const;
  // Starts a sum. On a GPU the sum waits for the work already queued on the current stream.
  Pending start_sum(const Tensor& tensor) const;
  void broadcast(const Tensor& tensor) const;  // copies the numbers of rank 0 to all ranks
  void barrier() const;

 private:
  struct Group;
  RankNumbers numbers_;
  std::shared_ptr<const Group> group_;  // none: one rank
};

}  // namespace eps
