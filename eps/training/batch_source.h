// Batches to train on: Algorithm 1, lines 3 to 5.
//
// The batch at a position of the endless stream of images is a pure function of the seed and the
// position: its image, mirroring, task, operator and noise. On a CPU this holds image by image,
// whatever the size of a batch and the number of processes; on a GPU batch by batch.
#pragma once

#include "eps/data/image_set.h"
#include "eps/data/shuffle.h"
#include "eps/diffusion/query.h"
#include "eps/operators/task.h"

namespace eps::training {

// A `BatchOptions` holds the distributions from which batches are drawn.
struct BatchOptions {
  NetworkInput input = NetworkInput::eps;
  std::vector<std::string> tasks = {};  // operator specs; none for a prior
  int64_t task_run = 1;                 // images in a row for which one task is drawn
  Range sigma_y = {0.05, 0.05};
  bool log_sigma_y = false;  // the logarithm is uniform in the range, not the number
  double p_mean = -1.2;      // ln sigma ~ N(p_mean, p_std^2); bridges draw t ~ U(0, 1] instead
  double p_std = 1.2;
  bool flip = true;
  uint64_t seed = 0;
};

// A `ProblemGroup` holds the images of a batch that share a task, with their measurements and one
// operator that has a map for each image. For a prior there is no operator.
struct ProblemGroup {
  Problem problem;
  Tensor x0;
};

// A `TrainingGroup` is a `ProblemGroup` with the queries that a network learns to answer.
struct TrainingGroup {
  Problem problem;
  Tensor x0;
  Query query;
};

// A `TrainingBatch` holds the groups of a batch, not in the order of positions. A network takes
// them in one pass (JoinedBatch).
struct TrainingBatch {
  std::vector<TrainingGroup> groups;
};

// A `BatchSource` draws batches from a set of images.
class BatchSource {
 public:
  // The set must outlive the source; batches are on the device.
  BatchSource(const ImageSet& data, const BatchOptions& options, at::Device device);

  // Draws the batch of the images at these positions, sorted by task, with noise levels from
  // p(sigma), or log-uniform in a band. The part of a band above sigma_max() is cut off; a band
  // that is wholly above becomes sigma_max().
  TrainingBatch draw(int64_t first, int64_t count) const;
  TrainingBatch draw_in_band(int64_t first, int64_t count, const Range& sigma) const;
  // Returns the same images as problems without noise levels, for previews.
  std::vector<ProblemGroup> make_problems(int64_t first, int64_t count) const;

  // Returns the largest noise level: that of the bridge's end, or infinity for other inputs.
  double sigma_max() const;

  const BatchOptions& options() const { return options_; }
  const ImageSet& data() const { return data_; }

 private:
  struct Drawn;
  Drawn draw_images(int64_t first, int64_t count) const;
  Operator draw_operator(
      const Drawn& drawn, size_t task, int64_t begin, int64_t end, int64_t first) const;
  std::vector<ProblemGroup> make_problems(Drawn& drawn, int64_t first) const;
  TrainingBatch finish(Drawn& drawn, int64_t first, const std::function<Tensor(Rng&)>& sigma) const;

  const ImageSet& data_;
  const BatchOptions options_;
  const at::Device device_;
  const Shuffle shuffle_;
  std::vector<Draw> draws_;  // of the tasks
};

}  // namespace eps::training
