// Time of one evaluation of a DDPM++ with 32 base channels at 64 x 64, in float32 on two threads.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "tests/wave_network.h"

namespace eps {
namespace {

void evaluate(benchmark::State& state) {
  at::set_num_threads(2);
  const c10::InferenceMode inference;
  nets::UNetConfig config;
  config.model_channels = 32;
  const nets::UNet network = wave_network(config);
  const Tensor x = waves({state.range(0), 3, 64, 64});
  const Tensor noise = at::full({state.range(0)}, -0.3);
  const Tensor answer = network.forward(x, noise);
  for (auto _ : state) benchmark::DoNotOptimize(network.forward(x, noise));
  // benchmarks/unet_reference.py prints the same number, which shows that both programs do the same
  // work.
  state.counters["mean_square"] = answer.square().mean().item<double>();
}
BENCHMARK(evaluate)->Name("unet")->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace eps

BENCHMARK_MAIN();
