// A batch of groups as one pass through a network.
#pragma once

#include "eps/model/checkpoint.h"
#include "eps/model/preconditioned_query.h"
#include "eps/training/batch_source.h"

namespace eps::training {

// A `JoinedBatch` preconditions each group with its own operator and joins the groups at the
// network's input; mean() takes the answer apart and joins it again as images. Images are in the
// order of the groups.
class JoinedBatch {
 public:
  JoinedBatch(const Preconditioning& preconditioning,
              const NetworkInput& input,
              const TrainingBatch& batch);

  const Tensor& x0() const { return x0_; }
  const Tensor& sigma() const { return sigma_; }    // (N, 1, 1, 1)
  const Tensor& labels() const { return labels_; }  // (N, label_dim), or undefined

  // These functions equal those of a PreconditionedQuery, for all images.
  Tensor input() const;
  Tensor noise_label() const;
  Tensor mean(const Tensor& answer) const;
  Tensor target() const;
  Tensor answer_scale() const;  // undefined where the prior mean is zero
  Tensor mean_square_out() const;

 private:
  // Returns f(query, begin, end) of each group with its places in the batch, joined.
  template <class F>
  Tensor joined(const F& f) const;

  const bool scaled_;  // answers may be
  std::vector<PreconditionedQuery> queries_;
  std::vector<int64_t> ends_;  // of the groups
  Tensor x0_, sigma_, labels_;
};

// Returns E[x0 | query] of all images, for a batch joined with the preconditioning and the input of
// the model.
Tensor denoise(const Checkpoint& model, const JoinedBatch& batch);

}  // namespace eps::training
