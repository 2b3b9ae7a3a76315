// Training a network: Algorithm 1 with EDM's optimisation (Karras et al. 2022, App. F.3).
#pragma once

#include <optional>

#include "eps/math/adam.h"
#include "eps/model/checkpoint.h"
#include "eps/runtime/device_graph.h"
#include "eps/runtime/gradient_sum.h"
#include "eps/training/batch_source.h"
#include "eps/training/loss_by_noise.h"

namespace eps::training {

// A `TrainerOptions` holds the settings of the optimisation.
struct TrainerOptions {
  int64_t batch = 256;      // images a step, over all ranks
  int64_t micro_batch = 0;  // images a pass of a rank; 0: all of its share
  double learning_rate = 1e-4;
  double rampup = 2e6;  // images over which the learning rate rises from 0
  double decay = 0;     // images at the end of the run over which it falls to 0
  int64_t images = 0;   // of the run; for `decay` only
  AdamOptions adam;
  double ema_halflife = 5e5;  // images
  double ema_rampup = 0.05;   // limits the half-life to this part of the images seen; 0: no limit
  // The loss is the squared error of the network's own answer; or of the image, over the mean of
  // c_out^2. For a preconditioning by numbers they are the same.
  bool loss_on_image = false;
  at::ScalarType precision = at::kFloat;  // of the images in the network; parameters are float32
  double loss_scaling =
      1;              // keeps small gradients from vanishing in float16; Adam's are without it
  bool graph = true;  // record the network's passes on a GPU, where that can be done
};

// A `Trainer` trains a network step by step and averages its weights.
class Trainer {
 public:
  // The trainer trains a copy of the network on the source's batches. Ranks start from rank 0's
  // numbers.
  Trainer(const Checkpoint& start,
          const BatchSource& source,
          const TrainerOptions& options,
          const Ranks& ranks = {});

  // Takes one step, without reading anything back from the device.
  void step();

  int64_t images_seen() const { return images_seen_; }
  double learning_rate() const;
  // A `Report` holds the mean losses per pixel since the last report(), and the norm of the last
  // gradient.
  struct Report {
    BandSums::Means loss;
    double gradient_norm = 0;
  };
  Report report();

  bool finite() const;                        // the weights, all of them
  bool recorded() const { return !!graph_; }  // passes are replayed

  Checkpoint network() const { return with(network_); }  // sharing the live tensors
  Checkpoint average() const { return with(average_); }

  // Returns all that a run needs to resume as if it had never stopped; network_in() and
  // average_in() read the networks of a state.
  Safetensors state() const;
  static Checkpoint network_in(Safetensors state, const std::string& name);
  static Checkpoint average_in(Safetensors state, const std::string& name);
  void restore(const Safetensors& state);

 private:
  Checkpoint with(const nets::UNet& network) const;
  void follow_first_rank();
  // A `Pass` holds the inputs of one pass through the network. loss_on_answer() returns the mean
  // loss per pixel of each image, (N).
  struct Pass {
    Tensor input, noise_label, labels, target;
    Tensor answer_scale;  // the weight of an error of the answer; undefined: 1
  };
  Tensor answer(const Pass& pass) const;
  Tensor loss_on_answer(const Pass& pass) const;
  void backward(const Tensor& loss, int64_t pixels) const;
  Tensor replay(const Pass& pass);
  bool can_record() const;
  void accumulate(int64_t first, int64_t count);

  const BatchSource& source_;
  const TrainerOptions options_;
  const Ranks ranks_;
  Checkpoint start_;  // for all but the network
  nets::UNet network_, average_;
  Tensor parameters_, averages_, gradient_;  // each one tensor for all
  Adam adam_;
  std::optional<GradientSum> gradient_sum_;
  BandSums sums_;
  at::Generator dropout_;
  // A recorded pass, the tensors it reads, and the losses it writes.
  std::unique_ptr<DeviceGraph> graph_;
  Pass recorded_;
  Tensor recorded_loss_;
  int64_t images_seen_ = 0;
};

// Returns the mean over a held-out set of (sigma^2 + sigma_data^2) / (sigma sigma_data)^2 |D -
// x0|^2 per pixel, EDM's loss whatever the preconditioning, for sigma log-uniform in each band.
// Every call has the same images, operators and noise. Bands above a bridge's largest sigma stay
// empty; the band that contains it counts up to there.
BandSums::Means validation_loss(const Checkpoint& model,
                                const BatchSource& held_out,
                                int64_t images,
                                int64_t batch,
                                const Ranks& ranks);

}  // namespace eps::training
