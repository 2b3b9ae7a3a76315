// Batches to train on: Algorithm 1, lines 3 to 5.
//
// The batch at a position of the endless stream of images is a pure function of the seed and the
// position: which image, which way round, which task, which operator, which noise. On a CPU this
// holds image by image, whatever the size of a batch and the number of processes; on a GPU batch by
// batch.
#pragma once

#include "eps/data/dataset.h"
#include "eps/data/shuffle.h"
#include "eps/diffusion/query.h"
#include "eps/operators/task.h"

namespace eps::training {

struct BatchOptions {
  NetworkInput input = NetworkInput::eps;
  std::vector<std::string> tasks =
      {};  // operator specs, one drawn for each image; none for a prior
  Range sigma_y = {0.05, 0.05};
  double p_mean = -1.2;  // ln sigma ~ N(p_mean, p_std^2); bridges draw t ~ U(0, 1] instead
  double p_std = 1.2;
  bool flip = true;
  uint64_t seed = 0;
};

// A `PosedGroup` holds those images of a batch that share a task, and the problem they pose: one
// operator with a map for each of them. For a prior the problem has none.
struct PosedGroup {
  Problem problem;
  Tensor x0;
};

// A group with the questions that its images are to answer.
struct TrainingGroup {
  Problem problem;
  Tensor x0;
  Query query;
};

// The groups of a batch, in an order of their own. A network takes them in one pass (JoinedBatch).
struct TrainingBatch {
  std::vector<TrainingGroup> groups;
};

class BatchSource {
 public:
  // The data set must outlive it; batches lie on the device.
  BatchSource(const Dataset& data, const BatchOptions& options, at::Device device);

  // The images at these positions, in an order of their own, with noise levels drawn from
  // p(sigma), or log-uniformly from a band: from what of it is below sigma_max(), or else at
  // sigma_max() itself.
  TrainingBatch draw(int64_t first, int64_t count) const;
  TrainingBatch draw_in_band(int64_t first, int64_t count, const Range& sigma) const;
  // The same images as problems, without noise levels: for previews.
  std::vector<PosedGroup> pose(int64_t first, int64_t count) const;

  // The largest noise level there is: that of the bridge's end; infinity for other inputs.
  double sigma_max() const;

  const BatchOptions& options() const { return options_; }
  int64_t images() const { return data_.size(); }

 private:
  struct Drawn;
  Drawn draw_images(int64_t first, int64_t count) const;
  Operator draw_operator(
      const Drawn& drawn, size_t task, int64_t begin, int64_t end, int64_t first) const;
  std::vector<PosedGroup> pose(Drawn& drawn, int64_t first) const;
  TrainingBatch finish(Drawn& drawn, int64_t first, const std::function<Tensor(Rng&)>& sigma) const;

  const Dataset& data_;
  const BatchOptions options_;
  const at::Device device_;
  const Shuffle shuffle_;
  std::vector<Draw> draws_;  // of the tasks
};

}  // namespace eps::training
