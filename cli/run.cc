// The verb `eps run` degrades clean images by the operator of a task and restores them with one
// method.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/images.h"
#include "cli/model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/base/json.h"
#include "eps/experiment/protocol.h"
#include "eps/io/array.h"
#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/metrics/psnr.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/task.h"
#include "eps/restore/training_range.h"

namespace eps::cli {
namespace {

struct RunOptions {
  std::string method, task, images, labels, out;
  ModelOptions model;
  double sigma_y = 0.05;
  int64_t samples = 4, steps = 0, count = 0, batch = 16, vjp_batch = 64;
  uint64_t seed = 0;
};

// `Results` holds the arrays of a run, on the CPU in float32.
struct Results {
  Tensor truth;                              // (N, C, H, W)
  Tensor measurement;                        // (N, ...)
  Tensor picture;                            // the measurement as an image, (N, C, H, W)
  Tensor samples;                            // (S, N, C, H, W), clipped to [-1, 1]
  std::map<std::string, Tensor> parameters;  // of the operators, (N, ...)
  Cost cost;
  double seconds = 0;
};

// Appends the parameters of the operator, one for each image even where all share one.
void add_parameters(const Problem& problem, std::map<std::string, std::vector<Tensor>>& all) {
  for (const auto& [name, value] : problem.A->format().parameters()) {
    Shape shape = value.sizes().vec();
    shape[0] = problem.y.size(0);
    all[name].push_back(value.expand(shape).to(at::kCPU));
  }
}

Results restore_images(const RunOptions& o, const MethodChoice& choice, const Checkpoint& model) {
  const Dataset data = read_clean_images(o.images, o.count, model.network.config());
  const experiment::Images images{data.images, labels_for(o.labels, model, data)};
  const NetworkDenoiser denoiser(model);
  const at::Device device = model.network.device();
  const experiment::Protocol protocol{o.task, o.sigma_y, o.seed, o.batch};
  Results results;
  results.truth = data.images;
  std::vector<Tensor> measurements, pictures, samples;
  std::map<std::string, std::vector<Tensor>> parameters;
  for (const Problem& problem : make_problems(protocol, images, device)) {
    measurements.push_back(problem.y.to(at::kCPU, at::kFloat));
    pictures.push_back(problem.A->format().picture(problem.y).to(at::kCPU, at::kFloat));
    add_parameters(problem, parameters);
  }
  results.measurement = at::cat(measurements);
  results.picture = at::cat(pictures);
  for (const auto& [name, values] : parameters) results.parameters[name] = at::cat(values);
  Progress progress("evaluations", measured_cost(choice).evaluations * data.size() * o.samples);
  const auto start = std::chrono::steady_clock::now();
  results.cost = draw_samples(
      protocol,
      choice,
      denoiser,
      images,
      device,
      o.samples,
      {.vjp_batch = o.vjp_batch, .on_evaluation = [&](int64_t count) { progress.advance(count); }},
      [&](const Tensor& part) { samples.push_back(part.clamp(-1, 1).to(at::kCPU, at::kFloat)); });
  results.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Shape shape = data.images.sizes().vec();
  shape.insert(shape.begin(), o.samples);
  results.samples = at::cat(samples).reshape(shape);
  return results;
}

// Draws a column for each image: the image, its measurement, samples, and the mean of all samples.
Tensor sheet(const Results& results) {
  constexpr int64_t kMostImages = 16, kMostSamples = 4;
  const int64_t images = std::min(results.truth.size(0), kMostImages);
  const int64_t samples = results.samples.size(0);
  std::vector<Tensor> rows = {results.truth, results.picture};
  for (int64_t k = 0; k < std::min(samples, kMostSamples); ++k) rows.push_back(results.samples[k]);
  if (samples > 1) rows.push_back(results.samples.mean(0));
  for (Tensor& row : rows) row = to_uint8(row.slice(0, 0, images));
  return image_grid(at::cat(rows), images);
}

// `Averages` holds the averages of a run.
struct Averages {
  double psnr_of_samples, psnr_of_mean, evaluations, vjps, solves;  // the last three per sample
};
Averages averages_of(const Results& results) {
  const auto drawn = static_cast<double>(results.samples.size(0) * results.samples.size(1));
  const auto mean = [](const Tensor& values) { return values.mean().item<double>(); };
  return {mean(psnr(results.samples, results.truth)),
          mean(psnr(results.samples.mean(0), results.truth)),
          static_cast<double>(results.cost.evaluations) / drawn,
          static_cast<double>(results.cost.vjps) / drawn,
          static_cast<double>(results.cost.solves) / drawn};
}

std::string results_json(const RunOptions& o,
                         const MethodChoice& choice,
                         const Results& results,
                         const Averages& averages) {
  Json options = Json::object();
  for (const auto& field : choice.method.fields)
    if (choice.options.has(field.name)) options[field.name] = choice.options.text(field.name);
  const Json json = {{"method", choice.method.name},
                     {"options", options},
                     {"task", o.task},
                     {"operator", find_task(o.task).test},
                     {"sigma_y", o.sigma_y},
                     {"seed", o.seed},
                     {"images", results.samples.size(1)},
                     {"samples", results.samples.size(0)},
                     {"psnr_of_samples", averages.psnr_of_samples},
                     {"psnr_of_mean", averages.psnr_of_mean},
                     {"evaluations_per_sample", averages.evaluations},
                     {"vjps_per_sample", averages.vjps},
                     {"solves_per_sample", averages.solves},
                     {"seconds", results.seconds}};
  return json_text(json, 2) + "\n";
}

void write_results(const std::string& folder, const Results& results, const std::string& json) {
  NewFolder out(folder);
  const auto path = [&](const std::string& name) { return out.file(name); };
  write_array(path("samples.npy"), results.samples);
  write_array(path("truth.npy"), results.truth);
  write_array(path("measurement.npy"), results.measurement);
  for (const auto& [name, value] : results.parameters) write_array(path(name + ".npy"), value);
  write_png(path("sheet.png"), sheet(results));
  write_file_atomically(path("run.json"), json);
  out.commit();
}

void run_method(const RunOptions& o) {
  const MethodChoice choice = choose_method(o.method, o.task, o.steps);
  parse_operator(find_task(o.task).test);
  check_new_folder(o.out);
  const Checkpoint model =
      load_model(o.model, choice.method.input, "the method " + choice.method.name);
  if (choice.method.input.conditional()) {
    print_warnings(operator_warnings(o.model.path,
                                     model.provenance,
                                     find_task(o.task).test,
                                     model.network.config().img_resolution));
    print_warnings(noise_warnings(o.model.path, model.provenance, o.sigma_y));
  }
  const Results results = restore_images(o, choice, model);
  const Averages averages = averages_of(results);
  write_results(o.out, results, results_json(o, choice, results, averages));
  fmt::print(
      "{}: {} images, {} samples each; PSNR of a sample {:.2f} dB, of their mean {:.2f} dB; "
      "{:g} evaluations, {:g} VJPs, {:g} solves a sample; {:.1f} s\n",
      choice.method.name,
      results.samples.size(1),
      results.samples.size(0),
      averages.psnr_of_samples,
      averages.psnr_of_mean,
      averages.evaluations,
      averages.vjps,
      averages.solves,
      results.seconds);
}

}  // namespace

void add_run(CLI::App& app) {
  const auto o = std::make_shared<RunOptions>();
  auto* verb = app.add_subcommand(
      "run", "Degrade clean images by the operator of a task, and restore them with a method");
  verb->add_option(
          "METHOD", o->method, "Method, such as dps or dps:scale=3,steps=100; see eps list methods")
      ->required();
  add_model_options(*verb, o->model, "--model");
  verb->add_option("--task", o->task, "Task or operator; see eps list tasks")->required();
  verb->add_option("--images", o->images, "Clean images: a folder, an EDM .zip, or .npy in [-1, 1]")
      ->required();
  verb->add_option("--out", o->out, "Folder to write, new or empty")->required();
  const CLI::Range count(1, 1000000);
  verb->add_option("--samples", o->samples, "Samples per image")
      ->check(count)
      ->capture_default_str();
  verb->add_option("--steps", o->steps, "Steps of the method, instead of its default")
      ->check(count);
  verb->add_option("--seed", o->seed, "Seed of operators, noise and samples")
      ->check(seed_up_to())
      ->capture_default_str();
  verb->add_option("--sigma-y", o->sigma_y, "Measurement noise")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_option("--count", o->count, "Use only the first N images")->check(count);
  verb->add_option(
      "--labels", o->labels, "Class labels, instead of the data's: 3, or 0,5,2, or an array");
  verb->add_option("--batch", o->batch, "Images in memory together")
      ->check(count)
      ->capture_default_str();
  verb->add_option("--vjp-batch", o->vjp_batch, "Images whose derivatives are in memory together")
      ->check(count)
      ->capture_default_str();
  verb->callback([o] { run_method(*o); });
}

}  // namespace eps::cli
