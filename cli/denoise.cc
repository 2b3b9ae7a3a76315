// The verb `eps denoise` evaluates a network once, E[x0 | x], on an array of images.
#include "cli/model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "eps/model/network_denoiser.h"

namespace eps::cli {
namespace {

struct DenoiseOptions {
  ModelOptions model;
  std::string input, output, sigma, labels;
  int64_t batch = 64;
};

// Reads one noise level for all images, or an array with one for each.
Tensor read_sigma(const std::string& text, int64_t count) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number = end != text.c_str() && *end == '\0';
  const Tensor sigma =
      is_number ? at::full({1}, number, at::kDouble) : read_array(text).to(at::kDouble).flatten();
  check(sigma.numel() == 1 || sigma.numel() == count,
        "--sigma ",
        text,
        ": ",
        sigma.numel(),
        " noise levels for ",
        count,
        " images; one, or one per image, is wanted");
  require_finite(sigma, "--sigma " + text);
  check(sigma.min().item<double>() > 0,
        "--sigma ",
        text,
        ": noise levels must be > 0, found ",
        sigma.min().item<double>());
  return sigma;
}

void run_denoise(const DenoiseOptions& o) {
  check_output(o.output, false);
  Tensor x = read_array(o.input);
  check(x.is_floating_point() && (x.dim() == 4 || x.dim() == 3),
        o.input,
        ": images are float C x H x W or N x C x H x W, got ",
        x.dtype().name(),
        " ",
        to_string(x.sizes()));
  require_finite(x, o.input);
  const bool single = x.dim() == 3;
  if (single) x = x.unsqueeze(0);
  const int64_t count = x.size(0);
  const Tensor sigma = read_sigma(o.sigma, count);
  const Checkpoint model = load_model(o.model);
  const NetworkDenoiser denoiser(model);
  const Tensor labels = labels_for(o.labels, model, count);
  const c10::NoGradGuard no_gradients;
  Progress progress("images", count);
  std::vector<Tensor> answers;
  for (int64_t begin = 0; begin < count; begin += o.batch) {
    const int64_t end = std::min(begin + o.batch, count);
    const auto rows = [&](const Tensor& t) {
      return t.defined() && t.size(0) == count ? t.slice(0, begin, end).to(model.network.device())
                                               : t;
    };
    const Tensor own_sigma =
        (sigma.numel() == 1 ? sigma : sigma.slice(0, begin, end)).to(model.network.device());
    answers.push_back(
        denoiser.mean({.x = rows(x).to(at::kFloat), .sigma = own_sigma, .labels = rows(labels)})
            .cpu());
    progress.advance(end - begin);
  }
  const Tensor answer = at::cat(answers);
  write_array(
      o.output,
      (single ? answer[0] : answer).to(x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
}

}  // namespace

void add_denoise(CLI::App& app) {
  const auto o = std::make_shared<DenoiseOptions>();
  auto* verb =
      app.add_subcommand("denoise", "Evaluate a network once: E[x0 | x] for x = x0 + sigma n");
  add_model_options(*verb, o->model);
  verb->add_option("IN", o->input, "Noisy images, N x C x H x W: .npy or .safetensors[#name]")
      ->required();
  verb->add_option("OUT", o->output, "File to write: the denoised images")->required();
  verb->add_option("--sigma", o->sigma, "Noise level: a number, or an array with one per image")
      ->required();
  verb->add_option("--labels", o->labels, "Class labels: 3, or 0,5,2, or an array");
  verb->add_option("--batch", o->batch, "Images evaluated together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->callback([o] { run_denoise(*o); });
}

}  // namespace eps::cli
