// An oracle gives a method the denoiser, its derivative, and solves with the operator, and counts
// every use of them.
#pragma once

#include "eps/diffusion/denoiser.h"

namespace eps {

class RecordedMean;

// A `Cost` counts in images: one evaluation of a batch of 8 counts 8.
struct Cost {
  int64_t evaluations = 0;  // of the denoiser
  int64_t vjps = 0;         // products with the transposed Jacobian of the denoiser
  int64_t solves = 0;       // ridge and proximal problems
  // Of pivots without a closed form: iterations of batches, and the largest error (PivotPath).
  int64_t pivot_iterations = 0;
  double pivot_error = 0;

  Cost& operator+=(const Cost& other) {
    evaluations += other.evaluations;
    vjps += other.vjps;
    solves += other.solves;
    pivot_iterations += other.pivot_iterations;
    pivot_error = std::max(pivot_error, other.pivot_error);
    return *this;
  }
};

// A `Linearisation` holds D at x and computes J'v for its Jacobian J = dD/dx there.
class Linearisation {
 public:
  const Tensor& mean() const { return mean_; }  // D(x, sigma), without a graph
  Tensor vjp(const Tensor& v) const;            // J'v, of the shape of x

 private:
  friend class Oracle;
  using Function = std::function<Tensor(const Tensor& x, int64_t begin, int64_t end)>;
  Linearisation(Function denoise, const Tensor& x, int64_t chunk, Cost& cost);

  Function denoise_;
  Tensor x_;  // detached
  Tensor mean_;
  Tensor leaf_, answer_;  // the graph, where the whole batch may be held; undefined otherwise
  int64_t chunk_;
  Cost& cost_;
};

class Oracle {
 public:
  // The denoiser must outlive the oracle. At most `vjp_batch` images have their derivatives in
  // memory at once (0: all of them); a larger batch is evaluated again, part by part, for each
  // product, which then costs more but counts the same.
  Oracle(const Denoiser& denoiser, const Problem& problem, int64_t vjp_batch = 0);
  ~Oracle();
  Oracle(const Oracle&) = delete;

  // Returns the problem, with an operator that counts its solves.
  const Problem& problem() const { return problem_; }
  const LinearOperator& A() const { return *problem_.A; }
  const Tensor& y() const { return problem_.y; }
  const Tensor& sigma_y() const { return problem_.sigma_y; }

  // Returns E[x0 | x0 + sigma n = x], in the dtype of x. A batch of M N states for N problems holds
  // all problems in order, M times.
  Tensor denoise(const Tensor& x, const Tensor& sigma);
  Linearisation linearise(const Tensor& x, const Tensor& sigma);
  // Returns E[x0 | x_t, y] for a method of this input, from a query with the denoiser's own input.
  // On a GPU the evaluations of few and small images are replayed (RecordedMean).
  Tensor posterior_mean(const NetworkInput& input, const Tensor& x_t, const Coefficients& c);
  bool replays() const;
  // Returns the denoiser, for its noise levels.
  const Denoiser& denoiser() const { return denoiser_; }

  const Cost& cost() const { return cost_; }
  // The functions are called when an evaluation has been asked for: the first with its answers for
  // all states of the batch, the second with their number. Where one throws, the method stops.
  std::function<void(const Tensor& estimates)> on_estimate = {};
  std::function<void(int64_t images)> on_evaluation = {};

 private:
  Tensor answer(Query query) const;
  Tensor ask(const Query& query);
  Tensor evaluate(const Tensor& x_t, const Coefficients& c);
  void report(const Tensor& estimates);
  // Returns the labels of the images [begin, end) of a batch of `images`, which may hold each
  // problem several times.
  Tensor labels(int64_t images, int64_t begin, int64_t end) const;

  const Denoiser& denoiser_;
  const Operator operator_;  // as it was given
  Problem problem_;
  const int64_t vjp_batch_;
  Cost cost_;
  // Of posterior_mean():
  NetworkInput own_input_;
  Trajectory trajectory_;
  int64_t solves_ = 0;  // of an evaluation
  std::unique_ptr<RecordedMean> posterior_;
};

}  // namespace eps
