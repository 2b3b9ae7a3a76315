// eps restore: posterior samples for a user's own measurement.
#include "cli/restore.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/seed.h"
#include "cli/trained.h"
#include "cli/verbs.h"
#include "eps/base/json.h"
#include "eps/metrics/psnr.h"
#include "eps/model/network_denoiser.h"
#include "eps/restore/noise_level.h"
#include "eps/restore/restoration.h"

namespace eps::cli {
namespace {

constexpr double kGreyLevel = 1 / 127.5;  // of 8 bits, in units of [-1, 1]

// "6.4" in grey levels of 8 bits, or "sigma=0.05" in units of [-1, 1].
double parse_noise(const std::string& text) {
  const std::string prefix = "sigma=";
  const bool in_units = text.starts_with(prefix);
  const std::string digits = in_units ? text.substr(prefix.size()) : text;
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, value);
  check(status == std::errc() && stop == end && value > 0 && std::isfinite(value),
        "--noise ",
        text,
        ": a number > 0 is wanted, in grey levels of 8 bits, or sigma=V in units of [-1, 1]");
  return in_units ? value : value * kGreyLevel;
}

// A network that is asked with the spectrum of A'A takes operators that have one. A kernel that is
// no average is most likely a mistake.
void check_served(const RestoreOptions& o, const Checkpoint& model, const Restored& result) {
  const bool spectral = model.preconditioning.kind == Preconditioning::Kind::anisotropic ||
                        model.input == Input::eps_precision || model.input == Input::pivot_sigma;
  const Operator& A = result.measurement.problem.A;
  check(!spectral || A->basis() != Basis::none,
        o.model,
        ": takes single operators, not ",
        result.made_by.text);
  const auto parameters = A->parameters();
  const auto kernel = parameters.find("kernel");
  if (kernel == parameters.end()) return;
  const double sum = kernel->second[0].sum().item<double>();
  if (std::abs(sum - 1) > 0.05)
    std::cerr << fmt::format(
        "eps: warning: the kernel of {} has the sum {:.4g}, not 1\n", result.made_by.text, sum);
}

// The robust noise level of an image-like measurement, and the most likely one from there.
double estimate_noise(const RestoreOptions& o,
                      const Checkpoint& model,
                      const Denoiser& denoiser,
                      Problem problem) {
  // Few samples will do, as each has many measurements; too few steps would lose some of the noise.
  constexpr int64_t kSamples = 2, kSteps = 16;
  const Tensor& y = problem.y;
  problem.sigma_y = scalar(robust_noise_level(y, problem.A->measured(at::ones_like(y))));
  const Range trained = trained_noise(model.provenance);
  check(trained.high > 0, o.model, ": was trained without noise; say the noise with --noise");
  const double factor = noise_factor(problem, model.network.config().img_channels);
  const double least = std::max(trained.low / factor, 1e-3);
  Progress progress("evaluations for the noise", kNoiseRounds * kSamples * kSteps);
  return likely_noise_level(method_for(model.input, problem.sigma_y.item<double>(), kSteps),
                            denoiser,
                            problem,
                            {least, std::max(least, std::min(trained.high / factor, 1.0))},
                            {.samples = kSamples,
                             .batch = o.batch,
                             .seed = o.seed,
                             .channels = model.network.config().img_channels,
                             .on_evaluation = [&](int64_t count) { progress.advance(count); }});
}

}  // namespace

Checkpoint load_posterior_network(const RestoreOptions& o) {
  ModelOptions network = o.network;
  network.path = o.model;
  Checkpoint model = load_any_model(network);
  check(
      model.input != Input::prior && !is_bridge(model.input),
      o.model,
      model.input == Input::prior ? " is a prior" : " is a bridge",
      "; restore wants a network trained for the posterior, or use eps run with ",
      model.input == Input::prior ? "a method for priors" : "the method " + to_string(model.input));
  const nets::UNetConfig& config = model.network.config();
  check(config.label_dim == 0, o.model, ": wants class labels, which eps run can give");
  check(config.img_channels == 1 || config.img_channels == 3,
        o.model,
        ": makes images of ",
        config.img_channels,
        " channels; pictures have 1 or 3");
  return model;
}

Restored restore(const RestoreOptions& o, const Checkpoint& model) {
  constexpr double kSimulated = 0.05;
  const nets::UNetConfig& network = model.network.config();
  const NetworkDenoiser denoiser(model);
  const Target target{o.model, network, model.network.device()};
  Restored result;
  result.made_by = chosen_operator(o.made_by, network.img_resolution);
  if (!o.noise.empty() || o.simulate)
    result.noise.sigma = o.noise.empty() ? kSimulated : parse_noise(o.noise);
  Measurement& measurement = result.measurement;
  measurement =
      o.simulate ? simulate_measurement(o.input, result.made_by, result.noise.sigma, o.seed, target)
                 : read_measurement(o.input, result.made_by, target);
  check_served(o, model, result);
  const bool from_file = !o.made_by.mask.empty() || !o.made_by.kernel.empty();
  warn_of_new_operator(o.model,
                       model.provenance,
                       from_file ? result.made_by.name : result.made_by.text,
                       network.img_resolution);
  if (o.noise.empty() && !o.simulate)
    result.noise = {estimate_noise(o, model, denoiser, measurement.problem), true};
  if (!result.noise.estimated)
    warn_of_new_noise(o.model,
                      model.provenance,
                      result.noise.sigma * noise_factor(measurement.problem, network.img_channels));
  measurement.problem.sigma_y = scalar(result.noise.sigma);
  const MethodChoice choice = method_for(model.input, result.noise.sigma, o.steps);
  Progress progress("evaluations", measured_cost(choice).evaluations * o.samples);
  result.restoration = restore(choice,
                               denoiser,
                               measurement.problem,
                               {.samples = o.samples,
                                .batch = o.batch,
                                .seed = o.seed,
                                .channels = network.img_channels,
                                .on_evaluation = [&](int64_t count) { progress.advance(count); }});
  return result;
}

namespace {

Json report(const RestoreOptions& o, const Checkpoint& model, const Restored& result) {
  const Restoration& r = result.restoration;
  const std::string misfit = misfit_words(r.chi2, r.measurements, result.noise.estimated);
  Json words = {{"input", o.input},
                {"simulated", o.simulate},
                {"operator", result.made_by.text},
                {"noise",
                 {{"sigma", result.noise.sigma},
                  {"grey_levels", result.noise.sigma / kGreyLevel},
                  {"estimated", result.noise.estimated}}},
                {"model", o.model},
                {"method", to_string(method_input(model.input))},
                {"samples", o.samples},
                {"steps", o.steps},
                {"seed", o.seed},
                {"measurements", r.measurements},
                {"chi2", r.chi2},
                {"fits", misfit.empty()},
                {"words", misfit.empty() ? "the samples explain the measurement" : misfit},
                {"interval", interval_kind(o.samples)},
                {"evaluations_per_sample",
                 static_cast<double>(r.cost.evaluations) / static_cast<double>(o.samples)},
                {"seconds", r.seconds}};
  if (r.deviation.defined()) words["deviation_of_white"] = r.deviation.mean(0).max().item<double>();
  if (result.measurement.truth.defined()) {
    const Tensor& truth = result.measurement.truth;
    words["psnr_of_samples"] = psnr(r.samples, truth).mean().item<double>();
    words["psnr_of_mean"] = psnr(r.mean, truth[0]).mean().item<double>();
  }
  return words;
}

void say(const RestoreOptions& o, const Json& words, const std::string& folder) {
  fmt::print("{}: {}, noise of {:.3g} grey levels (sigma={:.3g}), {}\n",
             o.input,
             words["operator"].get<std::string>(),
             words["noise"]["grey_levels"].get<double>(),
             words["noise"]["sigma"].get<double>(),
             words["noise"]["estimated"].get<bool>() ? "estimated"
             : o.simulate                            ? "simulated"
                                                     : "as stated");
  fmt::print("chi2 {:.2f}: {}\n", words["chi2"].get<double>(), words["words"].get<std::string>());
  if (o.simulate)
    fmt::print("PSNR of a sample {:.2f} dB, of the mean of all {:.2f} dB\n",
               words["psnr_of_samples"].get<double>(),
               words["psnr_of_mean"].get<double>());
  fmt::print("samples: {}, evaluations of each: {:g}, {:.1f} s; see {}/sheet.png\n",
             o.samples,
             words["evaluations_per_sample"].get<double>(),
             words["seconds"].get<double>(),
             folder);
}

void run(const RestoreOptions& o) {
  const std::string folder =
      o.out.empty() ? std::filesystem::path(o.input).stem().string() + "-restored" : o.out;
  check_new_folder(folder);
  if (!o.noise.empty()) parse_noise(o.noise);
  const Checkpoint model = load_posterior_network(o);
  const Restored result = restore(o, model);
  const auto words = report(o, model, result);
  write_restored(folder, result, json_text(words, 2) + "\n");
  say(o, words, folder);
}

}  // namespace

void add_restore(CLI::App& app) {
  const auto o = std::make_shared<RestoreOptions>();
  auto* verb =
      app.add_subcommand("restore", "Restore a measurement of yours: posterior samples, and doubt");
  verb->add_option("IMAGE",
                   o->input,
                   "Measurement: PNG or JPEG, or an array in units of [-1, 1] (uint8: 8 bits)")
      ->required();
  add_operator_options(*verb, o->made_by);
  verb->add_option("--noise",
                   o->noise,
                   "Its standard deviation: 6.4 in grey levels of 8 bits, sigma=0.05 in units of "
                   "[-1, 1]; estimated if not given");
  verb->add_flag("--simulate",
                 o->simulate,
                 "IMAGE is clean: degrade it first, with noise sigma=0.05 if none is given");
  verb->add_option("--model", o->model, "Network trained for the posterior: a name or a file")
      ->capture_default_str();
  add_device_options(*verb, o->network);
  const CLI::Range count(1, 1000000);
  verb->add_option("--samples",
                   o->samples,
                   "Samples; the 90% interval is by their quantiles from 19 on, by Student's t "
                   "below, and there is none of 1")
      ->check(count)
      ->capture_default_str();
  verb->add_option("--steps", o->steps, "Evaluations of the network for each sample")
      ->check(count)
      ->capture_default_str();
  verb->add_option("--seed", o->seed, "Seed of the samples, and of what is simulated")
      ->check(seed_up_to())
      ->capture_default_str();
  verb->add_option("--out",
                   o->out,
                   "Folder to write, new or empty; the name of IMAGE with -restored if not given");
  verb->add_option("--batch", o->batch, "Samples in memory together")
      ->check(count)
      ->capture_default_str();
  verb->callback([o] { run(*o); });
}

}  // namespace eps::cli
