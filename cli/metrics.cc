// The verb `eps metrics` scores samples against the truth.
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/images.h"
#include "cli/output.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/base/json.h"
#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/metrics/evaluation.h"
#include "eps/operators/task.h"
#include "eps/runtime/device.h"

namespace eps::cli {
namespace {

struct MetricsOptions {
  std::string samples, truth, inception, measurement, operator_spec, json, cache;
  std::vector<std::string> lpips, metrics;
  double sigma_y = -1;
  bool clip = false;
  std::string device = "auto";
  uint64_t seed = 0;
};

Tensor read_images(const std::string& path) {
  const Tensor images = path.ends_with(".npy") ? map_npy(path) : read_array(path);
  return images.scalar_type() == at::kByte ? from_uint8(images) : images;
}

void check_range(const MetricsOptions& o, const Tensor& images, const std::string& path) {
  require_finite(images, path);
  if (o.clip) return;
  try {
    check_image_range(images, path);
  } catch (const Error& error) {
    fail(error.what(), "; --clip clips the values");
  }
}

// Returns the operator of the spec. Refuses a random one: a second draw would differ from the
// operator that made the measurement.
Operator read_operator(const MetricsOptions& o, const Tensor& like) {
  check(!is_random(o.operator_spec),
        "--operator ",
        o.operator_spec,
        ": is drawn at random; name the file of the operator that made the measurement, as eps run "
        "writes it");
  Rng rng(0, like.size(0));
  return make_operator(o.operator_spec, like, rng);
}

// Reads the problem that the samples solve; returns none without --measurement, --operator and
// --sigma-y.
std::vector<Problem> read_problem(const MetricsOptions& o, const Tensor& truth) {
  const bool measurement = !o.measurement.empty(), spec = !o.operator_spec.empty();
  if (!measurement && !spec && o.sigma_y == -1) return {};
  check(measurement && spec && o.sigma_y > 0,
        "eps metrics: chi2 needs all of --measurement, --operator and a --sigma-y above 0");
  const Operator A = read_operator(o, truth.to(at::kDouble));
  Problem problem{A, read_array(o.measurement).to(at::kDouble), scalar(o.sigma_y)};
  const Tensor wanted = A->apply(truth.to(at::kDouble));
  check(problem.y.sizes() == wanted.sizes(),
        o.measurement,
        ": the operator measures ",
        to_string(wanted.sizes()),
        ", got ",
        to_string(problem.y.sizes()));
  require_finite(problem.y, o.measurement);
  return {problem};
}

Json evaluation_json(const Evaluation& evaluation) {
  // JSON has neither infinity nor NaN.
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  Json metrics = Json::object(), absent = Json::object();
  for (const auto& [name, reading] : evaluation.metrics)
    metrics[name] = {{"value", number(reading.value)}, {"se", number(reading.se)}};
  for (const auto& [name, reason] : evaluation.absent) absent[name] = reason;
  return {{"metrics", metrics}, {"absent", absent}, {"ranks", evaluation.ranks}};
}

// Returns the reason why a metric is absent, with the flag that would supply it.
std::string with_flag(const std::string& reason) {
  if (reason == "needs LPIPS weights") return reason + " (--lpips FILE)";
  if (reason == "needs Inception weights") return reason + " (--inception FILE)";
  return reason;
}

// Prints metrics in the order of the registry; those of features have one name per length.
void print_evaluation(const Evaluation& evaluation, const MetricNetworks& networks) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) {
    std::vector<int64_t> lengths = {2048};
    if (networks.inception) lengths = networks.inception->dimensions();
    for (const int64_t length : lengths) {
      const std::string name = metric_name(metric.name, length);
      if (names.empty() || names.back() != name) names.push_back(name);
    }
  }
  for (const auto& name : names) {
    const auto found = evaluation.metrics.find(name);
    if (found == evaluation.metrics.end()) continue;
    const auto [value, se] = found->second;
    fmt::print("{:<28} {:>12.6g}  +- {:.2g}\n", name, value, se);
  }
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, reason] : evaluation.absent) by_reason[reason].push_back(name);
  for (const auto& [reason, absent] : by_reason)
    fmt::print("absent: {}: {}\n", fmt::join(absent, ", "), with_flag(reason));
}

// Keeps the named metrics, and refuses a name that was not computed.
void keep_only(const std::vector<std::string>& names, Evaluation& evaluation) {
  if (names.empty()) return;
  std::map<std::string, Reading> kept;
  for (const auto& name : names) {
    find_metric(name);
    const auto found = evaluation.metrics.find(name);
    const auto reason = evaluation.absent.find(name);
    check(found != evaluation.metrics.end(),
          "metric ",
          name,
          ": ",
          reason == evaluation.absent.end() ? "needs other weights" : with_flag(reason->second));
    kept.insert(*found);
  }
  evaluation.metrics = kept;
  evaluation.absent.clear();
}

void run_metrics(const MetricsOptions& o) {
  check_folder_of(o.json);
  for (const auto& name : o.metrics) find_metric(name);
  Tensor samples = read_images(o.samples), truth = read_images(o.truth);
  if (samples.dim() == 4) samples = samples.unsqueeze(0);  // one sample of each image
  check(truth.dim() == 4, o.truth, ": the truth is N x C x H x W, got ", to_string(truth.sizes()));
  check(truth.numel() > 0, o.truth, ": holds no images, its shape is ", to_string(truth.sizes()));
  check(samples.dim() == 5 && samples.size(0) > 0 && samples.sizes().slice(1) == truth.sizes(),
        o.samples,
        ": samples are S x N x C x H x W with the truth's ",
        to_string(truth.sizes()),
        " behind S, got ",
        to_string(samples.sizes()));
  check_range(o, truth, o.truth);
  check_range(o, samples, o.samples);
  const auto problems = read_problem(o, truth);
  if (o.clip) {
    samples = samples.clamp(-1, 1);
    truth = truth.clamp(-1, 1);
  }
  const at::Device device = parse_device(o.device);
  prepare_device(device);
  const MetricNetworks networks = load_metric_networks(o.lpips, o.inception, o.cache, device);
  Evaluation evaluation = evaluate(
      samples,
      truth,
      {.networks = &networks, .problems = problems.empty() ? nullptr : &problems, .seed = o.seed});
  keep_only(o.metrics, evaluation);
  fmt::print("samples of each image: {}, images: {}\n", samples.size(0), truth.size(0));
  print_evaluation(evaluation, networks);
  if (o.json.empty()) return;
  auto json = evaluation_json(evaluation);
  json["samples"] = samples.size(0);
  json["images"] = truth.size(0);
  write_file_atomically(o.json, json_text(json, 2) + "\n");
}

}  // namespace

void add_metrics(CLI::App& app) {
  const auto o = std::make_shared<MetricsOptions>();
  auto* verb = app.add_subcommand("metrics", "Score samples against the truth");
  verb->add_option("--samples", o->samples, "(S, N, C, H, W) in [-1, 1]")->required();
  verb->add_option("--truth", o->truth, "(N, C, H, W) in [-1, 1]")->required();
  verb->add_option("--lpips", o->lpips, "LPIPS weights, from eps convert; several are allowed");
  verb->add_option("--inception", o->inception, "Inception weights for FID, from eps convert");
  verb->add_option(
      "--measurement", o->measurement, "Measurement y that the samples were restored from");
  verb->add_option("--operator", o->operator_spec, "Operator of the measurement");
  verb->add_option("--sigma-y", o->sigma_y, "Noise level of the measurement");
  verb->add_option("--metrics",
                   o->metrics,
                   "Only these metrics, see eps list metrics; an error if one cannot be computed");
  verb->add_flag(
      "--clip", o->clip, "Clip values to [-1, 1]; values outside are an error otherwise");
  verb->add_option("--json", o->json, "JSON file to write");
  verb->add_option("--features", o->cache, "Folder that caches Inception features");
  verb->add_option("--device", o->device, "auto, cpu, cuda or cuda:K")->capture_default_str();
  verb->add_option("--seed", o->seed, "Seed of ties and of the bootstrap")
      ->check(seed_up_to())
      ->capture_default_str();
  verb->callback([o] { run_metrics(*o); });
}

}  // namespace eps::cli
