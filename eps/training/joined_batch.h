// A batch of groups as one pass through a network.
#pragma once

#include "eps/model/checkpoint.h"
#include "eps/training/batch_source.h"

namespace eps::training {

// A `JoinedBatch` preconditions each group with its own operator and joins them at the network's
// input; the answer is taken apart and joined again as images. Images are in the order of the
// groups.
class JoinedBatch {
 public:
  JoinedBatch(const Preconditioning& preconditioning,
              const NetworkInput& input,
              const TrainingBatch& batch);

  const Tensor& x0() const { return x0_; }
  const Tensor& sigma() const { return sigma_; }    // (N, 1, 1, 1)
  const Tensor& labels() const { return labels_; }  // (N, label_dim), or undefined

  // As of a PreconditionedQuery, for all images.
  Tensor input() const;
  Tensor noise_label() const;
  Tensor mean(const Tensor& answer) const;
  Tensor target() const;
  Tensor mean_square_out() const;

 private:
  // f(query, begin, end) of each group with its places in the batch, joined.
  template <class F>
  Tensor joined(const F& f) const;

  std::vector<PreconditionedQuery> queries_;
  std::vector<int64_t> ends_;  // of the groups
  Tensor x0_, sigma_, labels_;
};

// E[x0 | query] of all images, for a batch that is joined as the model's network takes it.
Tensor denoise(const Checkpoint& model, const JoinedBatch& batch);

}  // namespace eps::training
