// Time of an evaluation of faces64-eps, by operator: the pivot, the functions of A'A that scale the
// network's input and output, and the network, over the network alone.
//
//   build/release/benchmarks/operator_bench [cpu|cuda] [batch] [float32|bfloat16]
//
// Both are timed in turns, under the same load of the machine, at noise levels from 80 to 0.02; the
// ratio is that of the sums. On a GPU both are replayed where an evaluation is, and operators are
// those for many evaluations (eps/operators/dense_basis.h). `once` is the time of what an operator
// computes once for all levels.
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "eps/methods/oracle.h"
#include "eps/model/bundled.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/dense_basis.h"
#include "eps/operators/task.h"
#include "eps/runtime/device.h"
#include "eps/runtime/device_graph.h"

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

// The network by itself, replayed where that is possible.
class BareNetwork {
 public:
  BareNetwork(const Checkpoint& network, const Shape& images, const at::TensorOptions& options)
      : network_(network.network),
        x_(at::zeros({images[0], network.input.channels(3), images[2], images[3]}, options)),
        level_(at::zeros({1}, options)) {
    if (DeviceGraph::available(x_.device()))
      graph_ =
          std::make_unique<DeviceGraph>([this] { answer_ = network_.forward(x_, level_, {}); });
  }
  Tensor answer() {
    if (!graph_) return network_.forward(x_, level_, {});
    graph_->replay();
    return answer_;
  }

 private:
  const nets::UNet network_;
  const Tensor x_, level_;
  Tensor answer_;
  std::unique_ptr<DeviceGraph> graph_;
};

void run(at::Device device, int64_t batch, at::ScalarType dtype) {
  const c10::NoGradGuard guard;
  prepare_device(device);
  Checkpoint network = read_checkpoint(find_model("faces64-eps"));
  network.network.to(device, dtype);
  const NetworkDenoiser denoiser(network);
  const Timer timer(device);
  const Shape one{1, 3, 64, 64}, all{batch, 3, 64, 64};
  const auto options = at::TensorOptions(device).dtype(at::kDouble);
  BareNetwork bare(network, all, options.dtype(at::kFloat));
  fmt::print("{:<62} {:>9} {:>9} {:>7} {:>9} {:>8}\n",
             "operator",
             "network",
             "with",
             "ratio",
             "once",
             "replayed");
  for (const std::string& spec : kSpecs) {
    Rng rng(1), streams(2, batch);
    const Tensor x0 = 0.3 * rng.normal(one, options);
    const Operator drawn = make_operator(spec, x0, rng);
    const Problem measured = observe(drawn, x0, scalar(0.05), rng);
    const std::vector<double> levels = {80, 20, 5, 1, 0.2, 0.02};
    double once = 0, with = 0, alone = 0;
    Problem problem = measured;
    once += timer.seconds([&] {
      constexpr int64_t kMany = 1 << 20;
      problem.A = for_many_evaluations(drawn, x0, kMany);
      return x0;
    });
    Oracle oracle(denoiser, problem);
    const auto step = [&](double sigma) {
      const Tensor x = x0 + sigma * streams.normal(all, options);
      const Coefficients c = edm().at(scalar(sigma));
      return timer.seconds([&] { return oracle.posterior_mean(NetworkInput::eps, x, c); });
    };
    const auto network_alone = [&] { return timer.seconds([&] { return bare.answer(); }); };
    for (int i = 0; i < 3; ++i) network_alone();
    // An operator may begin anew at each level.
    for (const double sigma : levels) once += step(sigma);
    for (const double sigma : levels)
      for (int round = 0; round < 4; ++round) {
        with += step(sigma);
        alone += network_alone();
      }
    fmt::print("{:<62} {:>6.2f} ms {:>6.2f} ms {:>7.3f} {:>6.0f} ms {:>8}\n",
               spec,
               alone / 24 * 1e3,
               with / 24 * 1e3,
               with / alone,
               std::max(0.0, once - with / 4) * 1e3,
               oracle.replays());
  }
}

}  // namespace
}  // namespace eps

int main(int count, char** arguments) {
  const std::string device = count > 1 ? arguments[1] : "cpu";
  const bool half = count > 3 && arguments[3] == std::string("bfloat16");
  eps::run(at::Device(device),
           count > 2 ? std::stoll(arguments[2]) : 8,
           half ? at::kBFloat16 : at::kFloat);
}
