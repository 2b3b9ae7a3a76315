// Images per second of whole training steps, and the times of their parts.
//
//   training_bench [batch] [precision] [steps]
//   training_bench CONFIG.json [steps] [DATA ...]
//
// The network is a DDPM++ with 64 base channels, multipliers 1, 2, 2, 2 and 2 blocks, trained as
// EPS on 64 x 64 images and the paper's five tasks, drawn per image; on a GPU if there is one. Each
// row is timed separately, from and to an idle device.
//
// With a configuration of eps train, its whole step is timed, and for each of its tasks the way
// from images to the network's input and target, a group of task_run images at a time: what the
// operators of a run cost beside its network.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "eps/io/file.h"
#include "eps/runtime/device.h"
#include "eps/training/config.h"
#include "eps/training/data.h"
#include "eps/training/initial_network.h"
#include "eps/training/joined_batch.h"

namespace eps {
namespace {

double seconds_of(const Tensor& probe, int64_t rounds, const std::function<void()>& work) {
  const auto wait = [&] { probe.sum().item<float>(); };
  for (int64_t i = 0; i < 3; ++i) work();  // warm-up
  wait();
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < rounds; ++i) work();
  wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
         static_cast<double>(rounds);
}

void row(const std::string& what, int64_t images, double seconds) {
  std::printf(
      "| %s | %.2f | %.0f |\n", what.c_str(), 1e3 * seconds, static_cast<double>(images) / seconds);
  std::fflush(stdout);
}

void run_config(const std::string& file, int64_t steps, const std::vector<std::string>& data) {
  const at::Device device = parse_device("auto");
  prepare_device(device);
  training::TrainingConfig config = training::parse_training_config(read_file(file), file);
  if (!data.empty()) config.data = data;
  config = resolved(config);
  const training::TrainingData pictures = training::load_training_data(config, {});
  training::keep_near(*pictures.train, device);
  const training::BatchSource source(*pictures.train, batch_options(config), device);
  Checkpoint start = training::initial_network(config, *pictures.train);
  start.network.to(device, at::kFloat);
  const Preconditioning rule = start.preconditioning.on(device);
  const Tensor probe = at::zeros({1}, at::TensorOptions(device).dtype(at::kFloat));
  std::printf("| what | ms | images/s |\n| --- | --- | --- |\n");
  {
    training::Trainer trainer(start, source, trainer_options(config));
    row("whole step", config.batch, seconds_of(probe, steps, [&] { trainer.step(); }));
  }
  const auto inputs = [&](const training::BatchSource& from, int64_t first, int64_t count) {
    const c10::NoGradGuard no_grad;
    const training::JoinedBatch all(rule, start.input, from.draw(first, count));
    all.input();
    all.target();
  };
  int64_t position = 0;
  row("all but the network", config.batch, seconds_of(probe, steps, [&] {
        inputs(source, position += config.batch, config.batch);
      }));
  for (const std::string& task : config.tasks) {
    training::BatchOptions options = batch_options(config);
    options.tasks = {task};
    const training::BatchSource one(*pictures.train, options, device);
    row("`" + task + "`", config.task_run, seconds_of(probe, steps, [&] {
          inputs(one, position += config.task_run, config.task_run);
        }));
  }
}

void run(int64_t batch, const std::string& precision, int64_t steps) {
  const at::Device device = parse_device("auto");
  prepare_device(device);
  Dataset data = read_dataset({"synthetic:size=64,count=1024"}, {});
  data.to(device);
  data.label_dim = 0;
  const Tensor probe = at::zeros({1}, at::TensorOptions(device).dtype(at::kFloat));
  std::printf("| what | ms | images/s |\n| --- | --- | --- |\n");
  const auto row = [&](const std::string& what, const std::function<void()>& work) {
    eps::row(what, batch, seconds_of(probe, steps, work));
  };
  for (const char* preconditioning : {"edm", "anisotropic"}) {
    training::TrainingConfig config;
    config.tasks = {"all"};
    config.batch = batch;
    config.precision = precision;
    config.preconditioning = preconditioning;
    config = resolved(config);
    const training::BatchSource source(data, batch_options(config), device);
    Checkpoint start = training::initial_network(config, data);
    start.network.to(device, at::kFloat);
    const Preconditioning rule = start.preconditioning.on(device);
    int64_t position = 0;
    const std::string name = std::string(" (") + preconditioning + ")";
    {
      training::Trainer trainer(start, source, trainer_options(config));
      row("whole step" + name, [&] { trainer.step(); });
    }
    {
      training::TrainerOptions launched = trainer_options(config);
      launched.graph = false;
      training::Trainer trainer(start, source, launched);
      row("whole step, not recorded" + name, [&] { trainer.step(); });
    }
    row("images, operators, noise, pivots" + name, [&] { source.draw(position += batch, batch); });
    const training::TrainingBatch drawn = source.draw(0, batch);
    row("scaling and target" + name, [&] {
      const c10::NoGradGuard no_grad;
      const training::JoinedBatch all(rule, start.input, drawn);
      all.input();
      all.target();
    });
    if (std::string(preconditioning) == "anisotropic") continue;
    nets::UNet network = start.network.clone();
    const Tensor parameters = network.flatten();
    network.compute_in(trainer_options(config).precision);
    network.requires_grad(true);
    const training::JoinedBatch all(rule, start.input, drawn);
    const Tensor input = all.input();
    const auto forward = [&] { return network.forward(input, all.noise_label()); };
    row("network forward", [&] { forward(); });
    row("network forward and backward", [&] { forward().sum().backward(); });
    Adam adam(parameters, {});
    const Tensor gradient = at::zeros_like(parameters), average = at::zeros_like(parameters);
    row("Adam and average", [&] {
      adam.step(gradient, 0);
      average.lerp_(parameters, 0.5);
    });
  }
}

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first.ends_with(".json")) {
    eps::run_config(
        first, argc > 2 ? std::atoll(argv[2]) : 20, {argv + std::min(argc, 3), argv + argc});
    return 0;
  }
  eps::run(argc > 1 ? std::atoll(argv[1]) : 256,
           argc > 2 ? argv[2] : "bfloat16",
           argc > 3 ? std::atoll(argv[3]) : 20);
}
