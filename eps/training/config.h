// The configuration of a training run, from flags or a file, and kept with the run.
#pragma once

#include "eps/data/crops.h"
#include "eps/training/trainer.h"

namespace eps::training {

// A `TrainingConfig` holds every setting of a run. Its defaults are those of the options that it
// becomes (batch_options(), trainer_options()), where they have any.
struct TrainingConfig {
  std::vector<std::string> data = {"synthetic"};
  std::vector<std::string> validation = {};
  int64_t holdout = 0;
  int64_t size = 0;
  std::string fit = "crop";
  int64_t crop = 0;
  double reduce = CropOptions{}.reduce;
  bool transpose = CropOptions{}.transpose;
  bool flip = BatchOptions{}.flip;
  bool strict = false;

  std::string input = "eps";
  std::vector<std::string> tasks = {};
  int64_t task_run = BatchOptions{}.task_run;
  std::string sigma_y = "0.05";
  std::string sigma_y_law = "uniform";

  std::string start = {};
  std::string arch = {};
  std::string preset = {};
  int64_t channels = 0;
  int64_t levels = 0;
  int64_t blocks = 0;
  std::string attention = {};
  std::string norm = {};
  int64_t patch = 0;
  double dropout = -1;
  std::string preconditioning = "auto";
  std::string prior_variance = "geometric_mean";
  std::string prior_mean = "zero";
  double sigma_data = 0;
  bool scale_side = false;
  bool show_skip = false;
  std::string loss = "network";

  double p_mean = BatchOptions{}.p_mean;
  double p_std = BatchOptions{}.p_std;
  int64_t images = 1000000;
  int64_t batch = TrainerOptions{}.batch;
  int64_t micro_batch = TrainerOptions{}.micro_batch;
  double learning_rate = TrainerOptions{}.learning_rate;
  double rampup = TrainerOptions{}.rampup;
  double decay = TrainerOptions{}.decay;
  double beta1 = AdamOptions{}.beta1;
  double beta2 = AdamOptions{}.beta2;
  double adam_epsilon = AdamOptions{}.epsilon;
  double ema_halflife = TrainerOptions{}.ema_halflife;
  double ema_rampup = TrainerOptions{}.ema_rampup;
  std::string precision = "float32";
  double loss_scaling = TrainerOptions{}.loss_scaling;
  bool graph = TrainerOptions{}.graph;
  int64_t seed = 0;
  std::string device = "auto";

  int64_t log_every = 0;
  int64_t validate_every = 0;
  int64_t validation_images = 512;
  int64_t save_every = 0;
  int64_t keep_every = 0;
  int64_t preview_every = 0;
  int64_t preview_images = 8;
};

// Calls visit(name, member, help, whether a resumed run may change the field) for each field.
// Flags, the config file and the stored config all come from this list.
template <class Config, class Visit>
void for_each_field(Config& c, Visit&& visit) {
  visit(
      "data", c.data, "EDM zips, folders of images, or synthetic[:...]; several are one set", true);
  visit("validation", c.validation, "Held-out images, in the same formats", true);
  visit(
      "holdout",
      c.holdout,
      "Without validation: this many images (pictures, of crops), drawn from everywhere, are held "
      "out",
      false);
  visit("size", c.size, "Side of the images in pixels; 0: that of the data", false);
  visit("fit",
        c.fit,
        "Way to that size: crop (the centred square, resized) or resize (stretched)",
        false);
  visit("crop",
        c.crop,
        "Side of random crops of pictures of any sizes; 0: the images as they are",
        true);
  visit("reduce",
        c.reduce,
        "Largest reduction of a crop's region, drawn uniformly from 1; 1: pixels as they are",
        true);
  visit("transpose", c.transpose, "Exchange rows and columns of half of the crops", false);
  visit("flip", c.flip, "Mirror half of the images", false);
  visit("strict", c.strict, "Stop at an image that cannot be read instead of skipping it", true);
  visit("input",
        c.input,
        "Input of the network: prior, palette, pivot, pivot_sigma, eps, eps_precision, indi or "
        "i2sb; "
        "or channel by channel, such as pivot+y+deviation+skip",
        false);
  visit("tasks", c.tasks, "Tasks or operator specs; several: one network for all", false);
  visit("task_run",
        c.task_run,
        "Images in a row for which one task is drawn; more are faster where tasks are many",
        false);
  visit("sigma_y", c.sigma_y, "Measurement noise: a number, or a..b drawn per image", false);
  visit("sigma_y_law", c.sigma_y_law, "Law of a range a..b: uniform, or log for its log", false);
  visit("start", c.start, "Network to start from: the name of a bundled one, or a file", false);
  visit("arch",
        c.arch,
        "From scratch: ddpmpp (the default), adm, or local, for pictures of any size",
        false);
  visit("preset",
        c.preset,
        "Size of a network from scratch: tiny, small (the default), ffhq64 or imagenet64; of a "
        "local one photos (the default), photos-small or tiny",
        false);
  visit("channels", c.channels, "Channels of the finest level; 0: the preset's", false);
  visit("levels", c.levels, "Levels; 0: the preset's", false);
  visit("blocks", c.blocks, "Residual blocks of a level; 0: the preset's", false);
  visit("attention", c.attention, "Resolutions that attend, such as 16,8, or none", false);
  visit("norm", c.norm, "Of a local network: pixel (the default) or group", false);
  visit("patch",
        c.patch,
        "Of a local network: 2 for a finest level of half the resolution; 0: the preset's",
        false);
  visit("dropout", c.dropout, "Dropout of a network from scratch; below 0: the preset's", false);
  visit("preconditioning",
        c.preconditioning,
        "edm, anisotropic, or auto: that of the start, edm from scratch",
        false);
  visit("prior_variance",
        c.prior_variance,
        "For anisotropic: constant, spectrum (of the data) or geometric_mean",
        false);
  visit("prior_mean",
        c.prior_mean,
        "For anisotropic: zero, or neighbours: a linear estimate that fills holes from around them",
        false);
  visit("sigma_data",
        c.sigma_data,
        "Deviation of the data about their prior mean; 0: that of the start, 0.5 from scratch",
        false);
  visit("scale_side", c.scale_side, "Multiply also the side channels by c_in", false);
  visit("show_skip",
        c.show_skip,
        "For anisotropic: append the linear estimate, such as c_skip x, to the input channels",
        false);
  visit("loss",
        c.loss,
        "Error measured on the output of the network or on the image: network or image",
        false);
  visit("p_mean", c.p_mean, "Mean of ln sigma; indi and i2sb draw t uniformly instead", false);
  visit("p_std", c.p_std, "Standard deviation of ln sigma", false);
  visit("images", c.images, "Images to train on", true);
  visit("batch", c.batch, "Images a step, over all processes", false);
  visit("micro_batch", c.micro_batch, "Images a pass; 0: a process's whole share", true);
  visit("learning_rate", c.learning_rate, "Learning rate after the ramp", false);
  visit("rampup", c.rampup, "Images over which the learning rate rises from 0", false);
  visit("decay", c.decay, "Last images of the run, over which the learning rate falls to 0", true);
  visit("beta1", c.beta1, "Adam's beta1", false);
  visit("beta2", c.beta2, "Adam's beta2", false);
  visit("adam_epsilon", c.adam_epsilon, "Adam's epsilon", false);
  visit("ema_halflife", c.ema_halflife, "Half-life of the averaged weights in images", false);
  visit("ema_rampup",
        c.ema_rampup,
        "Limit of the half-life as a part of the images seen; 0: none",
        false);
  visit("precision", c.precision, "Arithmetic of the network: float32, bfloat16 or float16", false);
  visit("loss_scaling", c.loss_scaling, "Factor on the loss, for float16", false);
  visit("graph", c.graph, "On one GPU: record the network's passes and replay them", true);
  visit("seed", c.seed, "Seed of everything random", false);
  visit("device", c.device, "auto, cpu, cuda or cuda:K", true);
  visit("log_every", c.log_every, "Images between lines of the log; 0: a hundred in all", true);
  visit("validate_every", c.validate_every, "Images between validations; 0: ten in all", true);
  visit("validation_images", c.validation_images, "Held-out images in a validation", true);
  visit("save_every", c.save_every, "Images between checkpoints; 0: twenty in all", true);
  visit("keep_every",
        c.keep_every,
        "Images between networks kept as network-<images>.safetensors; 0: none",
        true);
  visit("preview_every", c.preview_every, "Images between preview pictures; 0: ten in all", true);
  visit("preview_images", c.preview_images, "Images in a preview; 0: none", true);
}

std::string to_json(const TrainingConfig& config);
// Replaces the fields of `defaults` that the text gives. An unknown field, or one of the wrong
// type, is an Error that names it; `source` is for messages.
TrainingConfig parse_training_config(const std::string& json,
                                     const std::string& source,
                                     TrainingConfig defaults = {});

// Replaces each 0 and empty value that stands for a default, and throws an Error that names the
// first field that makes no sense.
TrainingConfig resolved(TrainingConfig config);
// Throws an Error if a field differs that a resumed run may not change.
void check_resumable(const TrainingConfig& stored, const TrainingConfig& wanted);

// Returns the network's input: `input`, `show_skip` and `scale_side` together.
NetworkInput network_input(const TrainingConfig& config);
CropOptions crop_options(const TrainingConfig& config);
BatchOptions batch_options(const TrainingConfig& config);
TrainerOptions trainer_options(const TrainingConfig& config);

}  // namespace eps::training
