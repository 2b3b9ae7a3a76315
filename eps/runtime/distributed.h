// The processes of one run, over libtorch's c10d: Gloo between CPUs, NCCL between GPUs.
//
// Every rank must call sum(), broadcast() and barrier() in the same order. A rank that is lost, or
// that keeps the others waiting longer than the time-out, ends them with an eps::Error.
#pragma once

#include <chrono>

#include "eps/base/core.h"
#include "eps/runtime/rank_environment.h"

namespace eps {

// A process without companions is a run of one rank: every function then does nothing.
class Ranks {
 public:
  Ranks() = default;  // alone

  // Waits until all ranks of the environment have met at MASTER_ADDR (127.0.0.1 when not set) and
  // MASTER_PORT. Tensors summed later lie on `device`. The process ignores SIGPIPE from then on.
  static Ranks from_environment(at::Device device,
                                std::chrono::seconds timeout = std::chrono::seconds(50));

  int64_t rank() const { return numbers_.rank; }
  int64_t size() const { return numbers_.size; }
  bool first() const { return rank() == 0; }  // the rank that writes

  // A sum under way.
  class Pending {
   public:
    Pending() = default;
    // Returns when the sum is in the tensor. On a GPU the current stream waits too.
    void wait();

   private:
    friend class Ranks;
    std::function<void()> wait_;
  };

  // In place, over all ranks. The tensor is dense and of the same shape on all.
  void sum(const Tensor& tensor) const;
  // On a GPU the sum waits for what the current stream has been given so far.
  Pending start_sum(const Tensor& tensor) const;
  void broadcast(const Tensor& tensor) const;  // rank 0's numbers for all
  void barrier() const;

 private:
  struct Group;
  RankNumbers numbers_;
  std::shared_ptr<const Group> group_;  // none: alone
};

}  // namespace eps
