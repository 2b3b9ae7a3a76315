// Time of an evaluation of faces64-eps, by operator: the pivot, the functions of A'A that scale the
// network's input and output, and the network, over the network alone.
//
//   build/release/benchmarks/operator_bench [cpu|cuda] [batch]
//
// Both are timed in turns, under the same load of the machine, at noise levels from 80 to 0.02; the
// ratio is that of the sums. `once` is the time of what an operator computes once for all levels.
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "eps/diffusion/denoiser.h"
#include "eps/model/bundled.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/task.h"
#include "eps/runtime/device.h"

namespace eps {
namespace {

const std::vector<std::string> kSpecs = {
    "inpaint_random:missing=0.7",
    "super_resolution:factor=4",
    "blur_motion:length=9,angle=30",
    "downscale:factor=4,filter=bicubic",
    "blur_gaussian:std=2,size=17,border=valid",
    "blur_gaussian:std=2,size=17,border=reflect101",
    "blur_motion:length=9,angle=30,border=valid",
    "blur_motion:length=21,angle=30,border=valid",
    "blur_disk:radius=3,border=valid",
    "blur_gaussian:std=0.75,size=11 | inpaint_random:missing=0.3",
    "blur_gaussian:std=2,size=17 | inpaint_random:missing=0.7"};

class Timer {
 public:
  explicit Timer(at::Device device) : device_(device) {}
  template <class Work>
  double seconds(const Work& work) const {
    const auto start = std::chrono::steady_clock::now();
    const Tensor result = work();
    // Reading a value waits for the device.
    if (!device_.is_cpu()) result.flatten()[0].item();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  at::Device device_;
};

void run(at::Device device, int64_t batch) {
  const c10::InferenceMode guard;
  Checkpoint network = read_checkpoint(find_model("faces64-eps"));
  network.network.to(device, at::kFloat);
  const NetworkDenoiser denoiser(network);
  const Timer timer(device);
  const Shape one{1, 3, 64, 64}, all{batch, 3, 64, 64};
  const auto options = at::TensorOptions(device).dtype(at::kFloat);
  fmt::print("{:<62} {:>9} {:>9} {:>7} {:>9}\n", "operator", "network", "with", "ratio", "once");
  for (const std::string& spec : kSpecs) {
    Rng rng(1), streams(2, batch);
    const Tensor x0 = 0.3 * rng.normal(one, options);
    const Operator A = make_operator(spec, x0, rng);
    const Problem problem = observe(A, x0, scalar(0.05), rng);
    const NetworkInput input = network.input;
    const Mean mean = posterior_mean(denoiser, problem, edm(), input);
    const Tensor channels = at::zeros({batch, input.channels(3), 64, 64}, options);
    const auto step = [&](double sigma) {
      const Tensor x = x0 + sigma * streams.normal(all, options);
      return timer.seconds([&] { return mean(x, scalar(sigma)); });
    };
    const auto bare = [&] {
      return timer.seconds(
          [&] { return network.network.forward(channels, at::zeros({1}, options), {}); });
    };
    const std::vector<double> levels = {80, 20, 5, 1, 0.2, 0.02};
    double first = 0, with = 0, alone = 0;
    step(1);
    bare();
    for (const double sigma : levels) first += step(sigma);  // an operator may begin anew at each
    for (const double sigma : levels)
      for (int round = 0; round < 2; ++round) {
        with += step(sigma);
        alone += bare();
      }
    fmt::print("{:<62} {:>6.1f} ms {:>6.1f} ms {:>7.3f} {:>6.0f} ms\n",
               spec,
               alone / 12 * 1e3,
               with / 12 * 1e3,
               with / alone,
               std::max(0.0, first - with / 2) * 1e3);
  }
}

}  // namespace
}  // namespace eps

int main(int count, char** arguments) {
  const std::string device = count > 1 ? arguments[1] : "cpu";
  eps::run(at::Device(device), count > 2 ? std::stoll(arguments[2]) : 8);
}
