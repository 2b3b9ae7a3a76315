// Time of the pivot of every operator at 64, 256 and 1024 pixels a side, beside that of a plain
// copy of the same tensor.
//
// Images are float32 with 3 channels, in batches of 1, on one thread. `copies` is the time over
// that of x.clone(), both the median of the same run; GB/s counts x_t and y read and mu_star
// written once.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "eps/diffusion/pivot.h"
#include "eps/operators/task.h"

namespace eps {
namespace {

template <class Work>
double seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  benchmark::DoNotOptimize(work());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void pivot_of(benchmark::State& state, const std::string& spec) {
  const int64_t side = state.range(0);
  const Shape image{1, 3, side, side};
  Rng rng(1);
  const Operator A = make_operator(spec, at::empty(image), rng);
  const Problem problem = observe(A, rng.normal(image, at::kFloat), scalar(0.05), rng);
  const Tensor x_t = rng.normal(image, at::kFloat);
  const Coefficients c = edm().at(scalar(1));
  std::vector<double> own, copy;
  // Both are timed in turns, under the same load of the machine.
  for (auto _ : state) {
    own.push_back(seconds([&] { return pivot(problem, x_t, c); }));
    copy.push_back(seconds([&] { return x_t.clone(); }));
    state.SetIterationTime(own.back());
  }
  const auto bytes = static_cast<double>(2 * x_t.nbytes() + problem.y.nbytes());
  state.counters["GB/s"] = bytes / median(own) * 1e-9;
  state.counters["copies"] = median(own) / median(copy);
}

// The specs name each operator with a closed form, at the paper's parameters where given.
const std::vector<std::string> kSpecs = {"identity",
                                         "inpaint_random:missing=0.7",
                                         "inpaint_box",
                                         "super_resolution:factor=4",
                                         "super_resolution:factor=16",
                                         "grey",
                                         "blur_gaussian:std=0.75,size=11",
                                         "blur_motion:length=15,angle=30",
                                         "blur_pool:std=1,size=11,factor=4",
                                         "fourier_lines",
                                         "hadamard"};

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  at::set_num_threads(1);
  // The process keeps freed memory, as the program eps does, so that no step pages a tensor in
  // anew.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (const auto& spec : eps::kSpecs) {
    benchmark::RegisterBenchmark(("pivot/" + spec).c_str(),
                                 [spec](benchmark::State& state) { eps::pivot_of(state, spec); })
        ->Arg(64)
        ->Arg(256)
        ->Arg(1024)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
