// Many methods on the same degraded images: a table of numbers and one picture per task.
//
//   methods_bench OUT IMAGES FIRST COUNT SAMPLES LIST INPUT=CHECKPOINT...
//
// LIST is a text file with a task and a method on each line ("random_inpainting dps:scale=3"). The
// picture OUT/<task>.png has a column per image; its rows are the images, their measurements, and
// the first sample of each method in the order of the list.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "eps/dataset.h"
#include "eps/device.h"
#include "eps/io/image.h"
#include "eps/method.h"
#include "eps/metrics/psnr.h"
#include "eps/network_denoiser.h"
#include "eps/task.h"

namespace eps {
namespace {

struct Arguments {
  std::string out, images;
  int64_t first, count, samples;
  std::vector<std::pair<std::string, std::string>> list;  // task, method
  std::map<std::string, std::string> checkpoints;         // by input
};

Arguments parse(int argc, char** argv) {
  check(argc >= 8, "usage: methods_bench OUT IMAGES FIRST COUNT SAMPLES LIST INPUT=CHECKPOINT...");
  Arguments a{
      argv[1], argv[2], std::stoll(argv[3]), std::stoll(argv[4]), std::stoll(argv[5]), {}, {}};
  std::ifstream lines(argv[6]);
  check(lines.good(), argv[6], ": cannot be read");
  for (std::string task, method; lines >> task >> method;) a.list.emplace_back(task, method);
  for (int i = 7; i < argc; ++i) {
    const std::string pair = argv[i];
    const size_t equals = pair.find('=');
    check(equals != std::string::npos, pair, ": wanted INPUT=CHECKPOINT");
    a.checkpoints[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return a;
}

// Mean over pixels of E|X - t| - E|X - X'|/2 with distinct samples X, X'. samples: (S, N, ...).
double fair_crps(const Tensor& samples, const Tensor& truth) {
  const int64_t s = samples.size(0);
  double spread = 0;
  for (int64_t i = 0; i < s; ++i)
    for (int64_t j = 0; j < i; ++j) spread += (samples[i] - samples[j]).abs().mean().item<double>();
  const double pairs = std::max(1.0, static_cast<double>(s * (s - 1)));
  return (samples - truth).abs().mean().item<double>() - spread / pairs;
}

// The denoisers by the input they take, loaded when first asked for.
class Denoisers {
 public:
  Denoisers(std::map<std::string, std::string> paths, at::Device device)
      : paths_(std::move(paths)), device_(device) {}

  const Denoiser& at(Input input) {
    const std::string name = to_string(input);
    if (!loaded_.count(name)) {
      check(paths_.count(name), "no checkpoint for the input ", name);
      Checkpoint model = read_checkpoint(paths_.at(name));
      model.network.to(device_, at::kFloat);
      loaded_[name] = std::make_unique<NetworkDenoiser>(model);
    }
    return *loaded_.at(name);
  }

 private:
  std::map<std::string, std::string> paths_;
  at::Device device_;
  std::map<std::string, std::unique_ptr<NetworkDenoiser>> loaded_;
};

Tensor picture(const Tensor& images) { return to_uint8(images.to(at::kCPU, at::kFloat)); }

void run(const Arguments& a) {
  const at::Device device = parse_device("auto");
  prepare_device(device);
  Denoisers denoisers(a.checkpoints, device);
  const Dataset data = read_dataset({a.images}, {.limit = a.first + a.count});
  const Tensor x0 =
      from_uint8(data.images.slice(0, a.first, a.first + a.count)).to(device, at::kDouble);
  std::vector<uint64_t> numbers;
  for (int64_t i = 0; i < a.count; ++i) numbers.push_back(static_cast<uint64_t>(a.first + i));
  std::map<std::string, std::vector<Tensor>> rows;  // of each task's picture
  std::filesystem::create_directories(a.out);
  fmt::print("| task | method | PSNR | PSNR of mean | CRPS | evaluations | VJPs | s |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (const auto& [task, spec] : a.list) {
    Rng for_operator(1, numbers), for_noise(2, numbers);
    const Operator A = make_operator(find_task(task).test, x0, for_operator);
    const Problem problem = observe(A, x0, scalar(0.05), for_noise);
    auto& pictures = rows[task];
    if (pictures.empty()) pictures = {picture(x0), picture(A->picture(problem.y))};
    try {
      const MethodChoice choice = choose_method(spec, task);
      const Denoiser& denoiser = denoisers.at(choice.method.input);
      const auto start = std::chrono::steady_clock::now();
      std::vector<Tensor> drawn;
      Cost cost;
      for (int64_t k = 0; k < a.samples; ++k) {
        Rng rng(derive_seed(3, static_cast<uint64_t>(k)), numbers);
        const Samples samples = sample_posterior(choice, denoiser, problem, x0.sizes().vec(), rng);
        drawn.push_back(samples.images);
        cost = samples.cost;
      }
      const Tensor samples = at::stack(drawn);
      const double mean_psnr = psnr(samples.mean(0), x0).mean().item<double>();
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.4f} | {} | {} | {:.1f} |\n",
                 task,
                 spec,
                 psnr(samples, x0).mean().item<double>(),
                 mean_psnr,
                 fair_crps(samples.clamp(-1, 1), x0),
                 cost.evaluations / a.count,
                 cost.vjps / a.count,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      pictures.push_back(picture(samples[0]));
    } catch (const Error& error) {
      fmt::print("| {} | {} | {} | | | | | |\n", task, spec, error.what());
      pictures.push_back(picture(at::ones_like(x0)));
    }
    std::fflush(stdout);
    // After every method, so that an interrupted comparison leaves its pictures, too.
    write_png(a.out + "/" + task + ".png", image_grid(at::cat(pictures), a.count));
  }
}

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  try {
    eps::run(eps::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "methods_bench: {}\n", error.what());
    return 2;
  }
}
