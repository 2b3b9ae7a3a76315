// E[x0 | x_t, y] on a GPU by replaying one recording.
//
// At a few small images a GPU spends most of an evaluation waiting for the launches of some
// thousand kernels: query, pivot, scaling and network. A CUDA graph launches all of them at once.
// State and noise level are its data, so that one recording serves every level of a trajectory.
#pragma once

#include "eps/diffusion/schedule.h"
#include "eps/operators/operator.h"
#include "eps/runtime/device_graph.h"

namespace eps {

class RecordedMean {
 public:
  // A `Function` returns E[x0 | x_t, y], without waiting for the device where sigma is on it.
  using Function = std::function<Tensor(const Tensor& x_t, const Coefficients& c)>;

  // Without `recordable` every answer is evaluated.
  explicit RecordedMean(Function function, bool recordable = true)
      : function_(std::move(function)), recordable_(recordable) {}

  // Returns the function of x_t. The first state of a size is evaluated as it is, which makes what
  // is computed once; at the second the function is recorded, where pays() says so. A function that
  // cannot be recorded after all is evaluated from then on.
  Tensor operator()(const Problem& problem, const Tensor& x_t, const Coefficients& c);
  bool replays() const { return graph_ != nullptr; }  // whether the last answer was replayed
  void forget();                                      // for another problem or function

  // Returns whether a recording can answer, and sooner: A'A is diagonal in a fast basis, so that
  // nothing is decided on the host, all states have one level of EDM's interpolant, and they are
  // few and small.
  static bool pays(const Problem& problem, const Tensor& x_t, const Coefficients& c);

 private:
  bool is_like_before(const Tensor& x_t) const;
  void record(const Tensor& x_t);

  const Function function_;
  bool recordable_;
  Tensor x_t_, sigma_, mean_;  // of the recording; before it, x_t_ is the last state
  std::unique_ptr<const DeviceGraph> graph_;
};

}  // namespace eps
