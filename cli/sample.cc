// The verb `eps sample` draws images from an unconditional or class-conditional network.
#include <charconv>
#include <cmath>

#include "cli/model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "eps/diffusion/sampler.h"
#include "eps/io/images/image.h"
#include "eps/model/network_denoiser.h"

namespace eps::cli {
namespace {

struct SamplingOptions {
  ModelOptions model;
  SamplerOptions sampler;
  std::string seeds = "0-15", labels, latents;
  std::vector<std::string> outputs;
  int64_t batch = 64, columns = 0;
};

// Returns the seeds of "0-63", "7" or "0-3,8,10-11".
std::vector<uint64_t> parse_seeds(const std::string& text) {
  std::vector<uint64_t> seeds;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    uint64_t first = 0, last = 0;
    const char* end = part.data() + part.size();
    auto [stop, status] = std::from_chars(part.data(), end, first);
    bool good = status == std::errc();
    last = first;
    if (good && stop != end && *stop == '-') {
      const auto second = std::from_chars(stop + 1, end, last);
      good = second.ec == std::errc();
      stop = second.ptr;
    }
    check(good && stop == end && first <= last && last - first < 1000000,
          "--seeds ",
          text,
          ": numbers and ranges are wanted, such as 0-63,70");
    for (uint64_t i = 0; i <= last - first; ++i) seeds.push_back(first + i);
  }
  check(!seeds.empty(), "--seeds ", text, ": at least one seed is wanted");
  return seeds;
}

int64_t evaluations(const SamplerOptions& options, int64_t steps) {
  const bool two =
      options.solver == "heun" || (options.solver == "edm_churn" && options.churn.second_order);
  return two ? 2 * steps - 1 : steps;
}

// Draws a class for each image from the stream of the image, as EDM does: (N, classes), undefined
// where there are no classes.
Tensor draw_labels(int64_t count, int64_t classes, Rng& rng) {
  if (classes == 0) return {};
  const Tensor drawn = rng.uniform({count}) * static_cast<double>(classes);
  return at::one_hot(drawn.floor().to(at::kLong), classes).to(at::kFloat);
}

void write(const SamplingOptions& o, const Tensor& images) {
  for (const auto& path : o.outputs) {
    if (!is_png(path)) {
      write_array(path, images);
      continue;
    }
    const auto square =
        static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(images.size(0)))));
    write_png(path, image_grid(to_uint8(images), o.columns > 0 ? o.columns : square));
  }
}

void run_sample(const SamplingOptions& o) {
  bool any_png = false;
  for (const auto& path : o.outputs) {
    check_output(path, true);
    any_png = any_png || is_png(path);
  }
  check_solver_options(o.sampler, "--");
  check(o.columns == 0 || any_png, "--columns: no .png is written");
  check(std::isfinite(o.sampler.grid.sigma_max) && std::isfinite(o.sampler.churn.S_churn),
        "--sigma-max and --churn must be finite");
  const auto seeds = parse_seeds(o.seeds);
  const Tensor latents = o.latents.empty() ? Tensor() : read_array(o.latents).to(at::kDouble);
  const Checkpoint model = load_model(o.model);
  const auto& config = model.network.config();
  const NetworkDenoiser denoiser(model);
  const Tensor grid = noise_levels(denoiser, o.sampler.grid);
  const auto count = latents.defined() ? latents.size(0) : static_cast<int64_t>(seeds.size());
  const Tensor given = labels_for(o.labels, model, count);
  const Shape image{config.img_channels, config.img_resolution, config.img_resolution};
  if (latents.defined()) {
    check(latents.dim() == 4 && latents.size(1) == image[0],
          o.latents,
          ": latents are N x ",
          image[0],
          " x H x W, got ",
          to_string(latents.sizes()));
    require_finite(latents, o.latents);
  }
  const c10::NoGradGuard no_gradients;
  Progress progress("evaluations",
                    evaluations(o.sampler, grid.numel() - 1) * ((count + o.batch - 1) / o.batch));
  std::vector<Tensor> images;
  for (int64_t begin = 0; begin < count; begin += o.batch) {
    const int64_t end = std::min(begin + o.batch, count);
    std::vector<uint64_t> streams;
    for (int64_t i = begin; i < end; ++i)
      streams.push_back(i < static_cast<int64_t>(seeds.size()) ? seeds[static_cast<size_t>(i)]
                                                               : static_cast<uint64_t>(i));
    Rng rng(0, streams);
    const Tensor drawn = rng.normal({end - begin, image[0], image[1], image[2]});
    const Tensor noise =
        (latents.defined() ? latents.slice(0, begin, end) : drawn).to(model.network.device());
    Tensor labels = draw_labels(end - begin, config.label_dim, rng);
    if (given.defined()) labels = given.slice(0, begin, end);
    if (labels.defined()) labels = labels.to(model.network.device());
    const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
      progress.advance();
      Query query = prior_query(x.to(at::kFloat), edm().at(sigma));
      query.labels = labels;
      return denoiser.mean(query);
    };
    const Tensor x_T = initial_state(edm(), grid, noise);
    images.push_back(solve(mean, edm(), x_T, grid, o.sampler, rng).to(at::kCPU, at::kFloat));
  }
  write(o, at::cat(images));
}

}  // namespace

void add_sample(CLI::App& app) {
  const auto o = std::make_shared<SamplingOptions>();
  o->sampler.solver = "heun";
  o->sampler.grid.steps = 18;
  auto* verb = app.add_subcommand("sample", "Draw images from a network");
  add_model_options(*verb, o->model);
  verb->add_option(
          "--out", o->outputs, "Files to write: a .png grid, .npy or .safetensors; may be repeated")
      ->required();
  verb->add_option("--steps", o->sampler.grid.steps, "Steps of the solver")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--solver",
                   o->sampler.solver,
                   "euler, heun, dpmpp_2m, ddim_renoise, ddim_ancestral or edm_churn")
      ->transform(CLI::Transformer(std::map<std::string, std::string>{{"dpmpp2m", "dpmpp_2m"}}))
      ->check(CLI::IsMember(solvers()))
      ->capture_default_str();
  verb->add_option(
          "--churn", o->sampler.churn.S_churn, "EDM's S_churn; makes heun and euler stochastic")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--churn-min", o->sampler.churn.S_min, "EDM's S_min")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--churn-max", o->sampler.churn.S_max, "EDM's S_max")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--churn-noise", o->sampler.churn.S_noise, "EDM's S_noise")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--eta", o->sampler.eta, "Fresh noise of the ddim solvers")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--sigma-min", o->sampler.grid.sigma_min, "Least noise level")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--sigma-max", o->sampler.grid.sigma_max, "Largest noise level")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--rho", o->sampler.grid.rho, "Exponent of EDM's grid")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--seeds", o->seeds, "One image per seed: 0-63, or 1,5,9")
      ->capture_default_str();
  verb->add_option("--labels",
                   o->labels,
                   "Class labels: 3, or 0,5,2, or an array; drawn at random if not given");
  verb->add_option("--latents",
                   o->latents,
                   "Start from this N(0, 1) noise, N x C x H x W, instead of the seeds'");
  verb->add_option("--batch", o->batch, "Images evaluated together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--columns", o->columns, "Columns of the grid; a square grid if not given")
      ->check(CLI::PositiveNumber);
  verb->callback([o] {
    // EDM's stochastic sampler alone has churn: --churn turns heun and euler into that sampler.
    if (o->sampler.churn.S_churn > 0 &&
        (o->sampler.solver == "heun" || o->sampler.solver == "euler")) {
      o->sampler.churn.second_order = o->sampler.solver == "heun";
      o->sampler.solver = "edm_churn";
    }
    run_sample(*o);
  });
}

}  // namespace eps::cli
