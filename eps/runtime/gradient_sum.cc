// Gradients summed over ranks while the backward pass is still running.
//
// A sum must start after its gradients are complete, and the optimiser after the sum. On a GPU both
// follow from stream order: autograd runs all accumulations, and the hooks after them, on the
// stream on which their accumulators were made, here the same for all; c10d makes NCCL's stream
// wait for the current stream when a sum starts, and the current stream for NCCL's in wait().
// Autograd makes the caller's stream wait for the accumulations before backward() returns.
#include "eps/runtime/gradient_sum.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace eps {
namespace {

// An `AfterAccumulation` calls back after a gradient has been accumulated.
struct AfterAccumulation final : torch::autograd::FunctionPostHook {
  explicit AfterAccumulation(std::function<void()> call) : call(std::move(call)) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    call();
    return outputs;
  }

  std::function<void()> call;
};

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.defined() && a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes();
}

}  // namespace

GradientSum::GradientSum(const Ranks& ranks,
                         const std::vector<Tensor>& parameters,
                         const Tensor& gradient,
                         int64_t bucket_bytes)
    : ranks_(ranks) {
  if (ranks.size() == 1) return;
  check(gradient.dim() == 1 && gradient.is_contiguous(),
        "the summed gradient must be flat, got ",
        to_string(gradient.sizes()));
  check(bucket_bytes > 0, "bucket_bytes must be positive, got ", bucket_bytes);
  parameters_ = parameters;
  hooks_.resize(parameters.size());
  for (const Tensor& parameter : parameters) views_.push_back(parameter.grad());
  make_buckets(gradient, bucket_bytes);
  for (size_t i = 0; i < parameters.size(); ++i) add_hook(i);
}

GradientSum::~GradientSum() {
  for (const Hook& hook : hooks_) {
    if (hook.remove) hook.remove();
  }
}

// Makes buckets from the end of `gradient` to its start, each up to the beginning of the bucket
// before.
void GradientSum::make_buckets(const Tensor& gradient, int64_t bucket_bytes) {
  int64_t end = gradient.numel(), last = end, parameters = 0;
  for (size_t i = views_.size(); i-- > 0;) {
    const Tensor& view = views_[i];
    check(view.defined() && view.is_alias_of(gradient) && view.is_non_overlapping_and_dense(),
          "parameter ",
          i,
          "'s gradient is not a view into the summed gradient");
    const int64_t begin = view.storage_offset() - gradient.storage_offset();
    check(begin >= 0 && begin + view.numel() <= last,
          "parameter ",
          i,
          "'s gradient does not lie before that of parameter ",
          i + 1);
    last = begin;
    ++parameters;
    hooks_[i].bucket = buckets_.size();
    if (i > 0 && (end - begin) * gradient.element_size() < bucket_bytes) continue;
    const int64_t first = i > 0 ? begin : 0;
    buckets_.push_back({gradient.slice(0, first, end), parameters});
    end = first;
    parameters = 0;
  }
}

void GradientSum::add_hook(size_t parameter) {
  const auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[parameter]);
  check(accumulator != nullptr, "parameter ", parameter, " takes no gradient");
  const auto key = accumulator->add_post_hook(
      std::make_unique<AfterAccumulation>([this, parameter] { arrived(parameter); }));
  hooks_[parameter].remove = [accumulator, key] { accumulator->del_post_hook(key); };
}

void GradientSum::arm() {
  const std::lock_guard lock(mutex_);
  for (Bucket& bucket : buckets_) bucket.awaited = bucket.parameters;
  for (Hook& hook : hooks_) hook.awaited = true;
  sent_.clear();
  failure_ = nullptr;
  armed_ = true;
}

// Counts a gradient and sends the buckets that are complete. All ranks send the buckets in the same
// order, whatever the order of the gradients. finish() throws an error that occurs here: autograd's
// threads cannot.
void GradientSum::arrived(size_t parameter) noexcept {
  const std::lock_guard lock(mutex_);
  Hook& hook = hooks_[parameter];
  if (!armed_ || failure_) return;
  try {
    check(hook.awaited, "a gradient came twice: arm() is for the last backward pass of a step");
    hook.awaited = false;
    --buckets_[hook.bucket].awaited;
    while (sent_.size() < buckets_.size() && buckets_[sent_.size()].awaited == 0) send_next();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void GradientSum::send_next() { sent_.push_back(ranks_.start_sum(buckets_[sent_.size()].slice)); }

void GradientSum::finish() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
  if (failure_) std::rethrow_exception(failure_);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    check(same_memory(parameters_[i].grad(), views_[i]),
          "parameter ",
          i,
          "'s gradient is no longer a view into the summed gradient");
  }
  sent_early_ = static_cast<int64_t>(sent_.size());
  while (sent_.size() < buckets_.size()) send_next();
  for (Ranks::Pending& sum : sent_) sum.wait();
  sent_.clear();
}

}  // namespace eps
