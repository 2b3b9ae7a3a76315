// The configuration of a training run: JSON, checks, and the options that follow.
#include "eps/training/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "eps/base/json_fields.h"
#include "eps/training/architecture.h"

namespace eps::training {
namespace {

// The paper's five tasks (Sec. 4.1).
const std::vector<std::string> kAllTasks = {"random_inpainting",
                                            "box_inpainting",
                                            "super_resolution_4x",
                                            "gaussian_deblurring",
                                            "motion_deblurring"};

void check_one_of(const char* field, const std::string& value, std::vector<std::string> known) {
  for (const auto& name : known)
    if (name == value) return;
  fail("training: ",
       field,
       " must be one of ",
       fmt::format("{}", fmt::join(known, ", ")),
       "; got \"",
       value,
       "\"");
}

void check_at_least(const char* field, double value, double least) {
  check(value >= least && std::isfinite(value),
        "training: ",
        field,
        " must be at least ",
        least,
        ", got ",
        value);
}

Range sigma_y_range(const TrainingConfig& config) {
  return Spec::parse("training:sigma_y=" + config.sigma_y).range("sigma_y", 0, 1000);
}

at::ScalarType precision_of(const TrainingConfig& config) {
  if (config.precision == "bfloat16") return at::kBFloat16;
  return config.precision == "float16" ? at::kHalf : at::kFloat;
}

// A network from scratch has a preset and an architecture; a network from a file brings its own.
TrainingConfig with_defaults_for_network(TrainingConfig c) {
  if (!c.start.empty()) return c;
  if (c.arch.empty())
    c.arch = c.preset == "imagenet64" ? "adm" : c.preset.starts_with("photos") ? "local" : "ddpmpp";
  if (c.preset.empty()) c.preset = c.arch == "local" ? "photos" : "small";
  if (c.preconditioning == "auto") c.preconditioning = "edm";
  return c;
}

void check_network(const TrainingConfig& c) {
  if (c.start.empty()) {
    check_architecture(c);
  } else {
    const bool sized = c.channels + c.levels + c.blocks > 0;
    check(c.arch.empty() && c.preset.empty() && c.dropout < 0 && !sized && c.attention.empty() &&
              c.norm.empty(),
          "training: arch, preset, channels, levels, blocks, attention, norm and dropout belong to "
          "a network from scratch; this one is ",
          c.start);
  }
  check_one_of("preconditioning", c.preconditioning, {"auto", "edm", "anisotropic"});
  check(!network_input(c).has(Channel::skip) || c.preconditioning != "edm",
        "training: show_skip needs preconditioning=anisotropic, got edm");
  check_one_of("prior_variance", c.prior_variance, {"constant", "spectrum", "geometric_mean"});
  check_one_of("prior_mean", c.prior_mean, {"zero", "neighbours"});
  check(c.prior_mean == "zero" || c.preconditioning == "anisotropic",
        "training: prior_mean=",
        c.prior_mean,
        " needs preconditioning=anisotropic, got ",
        c.preconditioning);
  check(c.sigma_data >= 0, "training: sigma_data must be >= 0, got ", c.sigma_data);
  check_one_of("loss", c.loss, {"network", "image"});
  check_one_of("precision", c.precision, {"float32", "bfloat16", "float16"});
}

void check_measurements(const TrainingConfig& c) {
  const NetworkInput input = network_input(c);
  check(input.conditional() || c.tasks.empty(), "training: the input ", c.input, " takes no task");
  check(!input.conditional() || !c.tasks.empty(),
        "training: the input ",
        c.input,
        " needs a task, such as random_inpainting");
  for (const auto& task : c.tasks) find_task(task);
  check_one_of("sigma_y_law", c.sigma_y_law, {"uniform", "log"});
  const Range sigma_y = sigma_y_range(c);
  check(c.sigma_y_law == "uniform" || sigma_y.low > 0,
        "training: sigma_y_law=log needs sigma_y > 0, got ",
        c.sigma_y);
  check(!input.needs_spectrum() || sigma_y.low > 0,
        "training: the input ",
        c.input,
        " has logarithms of variances, which need sigma_y > 0; got ",
        c.sigma_y);
  check(!c.data.empty(), "training: no data");
  check_one_of("fit", c.fit, {"crop", "resize"});
}

void check_numbers(const TrainingConfig& c) {
  for (const auto& [name, value, least] : {std::tuple{"images", c.images, 1},
                                           {"batch", c.batch, 1},
                                           {"validation_images", c.validation_images, 1},
                                           {"task_run", c.task_run, 1},
                                           {"holdout", c.holdout, 0},
                                           {"size", c.size, 0},
                                           {"crop", c.crop, 0},
                                           {"micro_batch", c.micro_batch, 0},
                                           {"seed", c.seed, 0},
                                           {"log_every", c.log_every, 0},
                                           {"validate_every", c.validate_every, 0},
                                           {"save_every", c.save_every, 0},
                                           {"keep_every", c.keep_every, 0},
                                           {"preview_every", c.preview_every, 0},
                                           {"preview_images", c.preview_images, 0}})
    check_at_least(name, static_cast<double>(value), least);
  for (const auto& [name, value] : {std::pair{"p_std", c.p_std},
                                    {"learning_rate", c.learning_rate},
                                    {"rampup", c.rampup},
                                    {"decay", c.decay},
                                    {"beta1", c.beta1},
                                    {"beta2", c.beta2},
                                    {"adam_epsilon", c.adam_epsilon},
                                    {"ema_halflife", c.ema_halflife},
                                    {"ema_rampup", c.ema_rampup},
                                    {"loss_scaling", c.loss_scaling}})
    check_at_least(name, value, 0);
  check_at_least("reduce", c.reduce, 1);
  check(c.crop > 0 || (c.reduce == 1 && !c.transpose),
        "training: reduce and transpose are for crops, but crop is 0");
  check(c.decay <= static_cast<double>(c.images),
        "training: decay must be at most images, ",
        c.images,
        "; got ",
        c.decay);
  check(c.loss_scaling > 0, "training: loss_scaling must be > 0, got ", c.loss_scaling);
  check(std::isfinite(c.p_mean), "training: p_mean must be a number, got ", c.p_mean);
  check(c.beta1 < 1 && c.beta2 < 1, "training: beta1 and beta2 must be below 1");
  check(c.dropout < 1, "training: dropout must be below 1, got ", c.dropout);
}

// An interval of 0 images becomes a part of the whole run.
TrainingConfig with_intervals(TrainingConfig c) {
  const auto part = [&](int64_t given, int64_t parts) {
    return given > 0 ? given : std::max<int64_t>(c.images / parts, 1);
  };
  c.log_every = part(c.log_every, 100);
  c.validate_every = part(c.validate_every, 10);
  c.save_every = part(c.save_every, 20);
  c.preview_every = part(c.preview_every, 10);
  return c;
}

}  // namespace

std::string to_json(const TrainingConfig& config) {
  Json json;
  for_each_field(
      config, [&](const char* name, const auto& value, const char*, bool) { json[name] = value; });
  return json_text(json, 2);
}

TrainingConfig parse_training_config(const std::string& text,
                                     const std::string& source,
                                     TrainingConfig config) {
  const Json json = parse_json(text, source);
  JsonFields fields(json, source);
  for_each_field(config, [&](const char* name, auto& value, const char*, bool) {
    fields.optional(name, value);
  });
  fields.finish();
  return config;
}

TrainingConfig resolved(TrainingConfig config) {
  config = with_defaults_for_network(std::move(config));
  if (config.tasks == std::vector<std::string>{"all"}) config.tasks = kAllTasks;
  check_network(config);
  check_measurements(config);
  check_numbers(config);
  return with_intervals(std::move(config));
}

void check_resumable(const TrainingConfig& stored, const TrainingConfig& wanted) {
  Json after;
  for_each_field(
      wanted, [&](const char* name, const auto& value, const char*, bool) { after[name] = value; });
  for_each_field(stored, [&](const char* name, const auto& value, const char*, bool free) {
    const Json before = value;
    check(free || before == after[name],
          "training: ",
          name,
          " is ",
          json_excerpt(before),
          " in the run and cannot become ",
          json_excerpt(after[name]),
          " when it is resumed");
  });
}

NetworkInput network_input(const TrainingConfig& config) {
  NetworkInput input = parse_input(config.input);
  if (config.show_skip) input = input.with(Channel::skip);
  input.scale_side = config.scale_side;
  return input;
}

CropOptions crop_options(const TrainingConfig& config) {
  return {.side = config.crop, .reduce = config.reduce, .transpose = config.transpose};
}

BatchOptions batch_options(const TrainingConfig& config) {
  BatchOptions options{.input = network_input(config),
                       .tasks = {},
                       .task_run = config.task_run,
                       .sigma_y = sigma_y_range(config),
                       .log_sigma_y = config.sigma_y_law == "log",
                       .p_mean = config.p_mean,
                       .p_std = config.p_std,
                       .flip = config.flip,
                       .seed = static_cast<uint64_t>(config.seed)};
  for (const auto& task : config.tasks) options.tasks.push_back(find_task(task).train);
  return options;
}

TrainerOptions trainer_options(const TrainingConfig& config) {
  return {.batch = config.batch,
          .micro_batch = config.micro_batch,
          .learning_rate = config.learning_rate,
          .rampup = config.rampup,
          .decay = config.decay,
          .images = config.images,
          .adam = {config.beta1, config.beta2, config.adam_epsilon},
          .ema_halflife = config.ema_halflife,
          .ema_rampup = config.ema_rampup,
          .loss_on_image = config.loss == "image",
          .precision = precision_of(config),
          .loss_scaling = config.loss_scaling,
          .graph = config.graph};
}

}  // namespace eps::training
