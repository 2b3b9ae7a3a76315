// Gradients summed over ranks while the backward pass is still running.
#pragma once

#include <exception>
#include <functional>
#include <mutex>

#include "eps/runtime/distributed.h"

namespace eps {

// A `GradientSum` sums gradients in buckets. The .grad of parameter i is a view into `gradient`,
// one flat contiguous tensor, and must remain a view: zero it, do not reset it. The views follow
// the order of `parameters`, which is the order of the forward pass, so that gradients arrive
// roughly from last to first; a bucket is a slice of `gradient`, counted from its end. With one
// rank nothing happens.
class GradientSum {
 public:
  GradientSum(const Ranks& ranks,
              const std::vector<Tensor>& parameters,
              const Tensor& gradient,
              int64_t bucket_bytes = 4 << 20);
  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  // Prepares the last backward pass of a step, which then sends each bucket when its gradients are
  // complete.
  void arm();
  // Ends the step after that backward pass: sends the buckets of parameters without a gradient and
  // waits for all sums. `gradient` is then the sum over ranks.
  void finish();

  int64_t buckets() const { return static_cast<int64_t>(buckets_.size()); }
  // Returns the number of buckets that the last backward pass sent by itself.
  int64_t sent_early() const { return sent_early_; }

 private:
  struct Bucket {
    Tensor slice;
    int64_t parameters = 0;
    int64_t awaited = 0;  // gradients not yet accumulated
  };
  struct Hook {
    // Its gradient accumulator, which keeps the hook alive, is in here: PyTorch 2.15 has another
    // pointer to it than those before.
    std::function<void()> remove;
    size_t bucket = 0;
    bool awaited = false;
  };

  void make_buckets(const Tensor& gradient, int64_t bucket_bytes);
  void add_hook(size_t parameter);
  void arrived(size_t parameter) noexcept;
  void send_next();

  const Ranks ranks_;
  std::vector<Tensor> parameters_, views_;
  std::vector<Bucket> buckets_;  // the last parameters first: the order of sending
  std::vector<Hook> hooks_;      // one per parameter
  // The mutex is needed since backward passes on a GPU call hooks from another thread.
  std::mutex mutex_;
  bool armed_ = false;
  std::exception_ptr failure_;
  std::vector<Ranks::Pending> sent_;
  int64_t sent_early_ = 0;
};

}  // namespace eps
