// A measurement in a file restored by a network.
#include "eps/restore/restore.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "eps/model/network_denoiser.h"
#include "eps/restore/blur_kernel.h"
#include "eps/restore/holes.h"
#include "eps/restore/judgement.h"
#include "eps/restore/large_pictures.h"
#include "eps/restore/noise_level.h"
#include "eps/restore/training_range.h"

namespace eps {
namespace {

// Returns a warning about a kernel that is no average, most likely a mistake.
std::vector<std::string> kernel_warnings(const LinearOperator& A, const std::string& spec) {
  const Tensor kernel = kernel_of(A);
  if (!kernel.defined()) return {};
  const double sum = kernel.sum().item<double>();
  if (std::abs(sum - 1) <= 0.05) return {};
  return {fmt::format("the kernel of {} has the sum {:.4g}, not 1", spec, sum)};
}

void validate(const RestorationRequest& request) {
  const auto at_least_one = [](const char* name, int64_t value) {
    check(value >= 1, "restore: ", name, " must be at least 1, got ", value);
  };
  if (request.options.samples != 0) at_least_one("samples", request.options.samples);
  if (request.options.batch != 0) at_least_one("batch", request.options.batch);
  check(!request.quick || (request.method.empty() && request.steps == 0),
        "restore: quick has one evaluation of a network for the posterior, no method and no steps");
  if (request.steps != 0) at_least_one("steps", request.steps);
  if (!request.method.empty()) choose_method(request.method, "", request.steps);
  const double sigma_y = request.sigma_y.value_or(kSimulatedNoise);
  check(sigma_y > 0 && std::isfinite(sigma_y), "restore: sigma_y must be > 0, got ", sigma_y);
  std::vector<std::string> noise = request.noise.stated();
  if (request.sigma_y && !noise.empty() && !request.noise.growth)
    noise.insert(noise.begin(), fmt::format("as sigma={:g}", *request.sigma_y));
  check(noise.size() <= 1,
        "restore: the noise is stated ",
        fmt::format("{}", fmt::join(noise, " and ")),
        "; one statement is wanted");
  check(!request.noise.growth || request.sigma_y || request.simulate,
        "restore: noise that grows with the signal needs the deviation without light, too");
}

Measurement measurement_of(const RestorationRequest& request,
                           const OperatorChoice& chosen,
                           const NetworkShape& shape) {
  if (!request.simulate) return read_measurement(request.input, chosen, shape);
  return simulate_measurement(request.input,
                              chosen,
                              request.sigma_y.value_or(kSimulatedNoise),
                              request.noise,
                              request.options.seed,
                              shape);
}

void warn(const RestorationRequest& request,
          const std::vector<std::string>& warnings,
          RestorationResult& result) {
  for (const std::string& warning : warnings) {
    result.warnings.push_back(warning);
    if (request.on_warning) request.on_warning(warning);
  }
}

void start_stage(const RestorationRequest& request, const std::string& name, int64_t total) {
  if (request.on_stage) request.on_stage(name, total);
}

bool is_for_posterior(const NetworkInput& input) {
  return input.conditional() && !input.is_bridge();
}

// Returns the input of the method: the network's, unless another method is asked for.
const NetworkInput& input_of(const RestorationRequest& request, const Checkpoint& network) {
  return request.method.empty() ? network.input : choose_method(request.method).method.input;
}

// Returns the operator as choose_method() takes it, or "" if the registry does not know it.
std::string task_of(const OperatorChoice& chosen) {
  if (chosen.from_file) return chosen.name;
  return is_composed(chosen.spec) || operators().contains(chosen.name) ? chosen.spec : "";
}

// Returns the stated or estimated sigma_y, warns of a stated one outside the network's training,
// and reports an estimated one that the finest detail does not have.
double noise_of(const RestorationRequest& request,
                const Checkpoint& network,
                const Denoiser& denoiser,
                const Problem& problem,
                const RestorationOptions& options,
                RestorationResult& result) {
  RestorationReport& report = result.report;
  const double factor = noise_factor(problem, network.network.config().img_channels);
  if (report.noise_estimated) {
    const Tensor measured = problem.A->format().measured(at::ones_like(problem.y));
    report.finest_detail = robust_noise_level(problem.y, measured);
    if (request.quick) {
      const Range range = noise_search_range(network, request.network, factor);
      report.noise_at_limit = *report.finest_detail <= range.low;
      return std::clamp(*report.finest_detail, range.low, range.high);
    }
    start_stage(request, "evaluations for the noise", kNoiseEvaluations);
    const double fitted = estimate_noise(network, request.network, denoiser, problem, options);
    const Range range = noise_search_range(network, request.network, factor);
    report.noise_at_limit = fitted <= range.low * (1 + 1e-9);
    if (const auto words = noise_excess_words(fitted, *report.finest_detail, range); !words.empty())
      report.findings.push_back(words);
    return fitted;
  }
  const double sigma_y = request.noise.is_white() ? request.sigma_y.value_or(kSimulatedNoise)
                                                  : problem.sigma_y.item<double>();
  if (input_of(request, network).conditional())
    warn(request, noise_warnings(request.network, network.provenance, sigma_y * factor), result);
  return sigma_y;
}

// Returns the part of the images that is shown.
Restoration part_of(const Restoration& whole, const Cut& part) {
  Restoration shown = whole;
  for (Tensor* image : {&shown.samples, &shown.mean, &shown.deviation, &shown.low, &shown.high})
    if (image->defined()) *image = part.of(*image).contiguous();
  return shown;
}

// Returns the listener for a running mean, of whose picture `part` is shown.
std::function<void(const std::function<Tensor()>&)> shown_mean(
    const std::function<void(const std::function<Tensor()>&)>& listener,
    const std::optional<Cut>& part) {
  if (!listener || !part) return listener;
  return [listener, part](const std::function<Tensor()>& mean) {
    listener([&] { return part->of(mean()).contiguous(); });
  };
}

// Returns the whitening of the noise where it is not white. Noise that grows with the signal does
// so with the values of the file.
Whitening whitening_for(const RestorationRequest& request, const Measurement& measurement) {
  if (request.noise.is_white()) return {};
  Problem stored = measurement.problem;
  stored.sigma_y = scalar(request.sigma_y.value_or(kSimulatedNoise));
  if (measurement.offset.defined()) stored.y = stored.y + measurement.offset;
  return whitening_of(request.noise, stored, measurement.cut);
}

}  // namespace

void check_restores(const Checkpoint& network, const std::string& name, const std::string& method) {
  if (method.empty()) {
    check(is_for_posterior(network.input),
          name,
          !network.input.conditional() ? " is a prior" : " is a bridge",
          "; a network trained for the posterior is wanted, or a method for this one");
  } else {
    const Method& chosen = choose_method(method).method;
    check(serves(network.input, chosen.input),
          name,
          ": a network for the input ",
          to_string(network.input.without(Channel::skip)),
          "; the method ",
          chosen.name,
          " needs one for the input ",
          to_string(chosen.input));
  }
  const nets::UNetConfig& config = network.network.config();
  check(config.label_dim == 0, name, ": needs class labels, which a measurement does not have");
  check(config.img_channels == 1 || config.img_channels == 3,
        name,
        ": makes images of ",
        config.img_channels,
        " channels; pictures have 1 or 3");
}

RestorationResult restore_measurement(const RestorationRequest& request,
                                      const Checkpoint& network) {
  validate(request);
  check_restores(network, request.network, request.method);
  const NetworkShape shape = shape_of(network, request.network);
  const OperatorChoice chosen =
      choose_operator(request.operator_options, shape.resolution, request.simulate);
  return restore_measurement(measurement_of(request, chosen, shape), chosen, request, network);
}

RestorationResult restore_measurement(const Measurement& measurement,
                                      const OperatorChoice& chosen,
                                      const RestorationRequest& request,
                                      const Checkpoint& network) {
  validate(request);
  check_restores(network, request.network, request.method);
  RestorationResult result{.measurement = measurement};
  Problem& problem = result.measurement.problem;
  const nets::UNetConfig& config = network.network.config();
  RestorationReport& report = result.report;
  report = {.input = request.input,
            .simulated = request.simulate,
            .operator_spec = chosen.spec + (chosen.is_black ? ", black outside" : ""),
            .noise_estimated = !request.sigma_y && request.noise.is_white() && !request.simulate,
            .noise_words = request.noise.words(),
            .network = request.network,
            .seed = request.options.seed,
            .approximate = !is_for_posterior(input_of(request, network))};
  check(!report.noise_estimated || is_for_posterior(network.input),
        request.method,
        ": the noise of the measurement must be stated; only a network trained for the posterior "
        "estimates it");
  const Problem plain = problem;
  const Whitening whitening = whitening_for(request, result.measurement);
  if (whitening.W) problem = whitening.of(plain);
  warn(request, measurement.warnings, result);
  warn(request, kernel_warnings(*plain.A, chosen.spec), result);
  warn(request,
       input_of(request, network).conditional()
           ? operator_warnings(request.network,
                               network.provenance,
                               chosen.from_file ? chosen.name : chosen.spec,
                               config.img_resolution)
           : own_prior_warnings(request.network, network.provenance, config.img_resolution),
       result);
  if (report.approximate)
    warn(
        request,
        {request.method + " approximates the posterior: chi2 and the intervals have its own error"},
        result);
  if (is_large(problem) && !problem.A->closed_form())
    warn(request,
         {chosen.spec + " has no closed form here: its pivots are iterated, which takes minutes" +
          (chosen.border && *chosen.border != Border::valid ? "; border=valid is faster" : "")},
         result);
  const NetworkDenoiser denoiser(network);
  RestorationOptions options = options_for(request, network, problem);
  // The samples have a running mean that is worth a look, those for the noise have not.
  const auto on_mean = std::exchange(options.on_mean, {});
  std::vector<Window> windows = windows_for(request, chosen, network, problem);
  // One window has what the noise and the residual of all of them have.
  const auto first_window = [&] { return windows.empty() ? problem : within(problem, windows[0]); };
  report.sigma_y = noise_of(request, network, denoiser, first_window(), options, result);
  windows = cheapest(std::move(windows), problem);
  const Problem seen = first_window();
  problem.sigma_y = scalar(report.sigma_y);
  report.method = request.method.empty() ? method_served_by(network.input) : request.method;
  const MethodChoice own =
      method_for(report.method, task_of(chosen), report.sigma_y, steps_for(request, problem));
  const bool is_mask = problem.A->spectral() && problem.A->spectral()->basis() == Basis::pixel;
  const MethodChoice choice = request.quick && !is_mask ? own.with("sigma_max", kQuickNoise) : own;
  if (choice.options.has("steps")) report.steps = choice.options.integer("steps");
  const auto parts = std::max<int64_t>(std::ssize(windows), 1);
  start_stage(request, "evaluations", measured_cost(choice).evaluations * options.samples * parts);
  Tensor samples;
  options.on_mean = shown_mean(on_mean, measurement.shown);
  if (windows.empty()) {
    result.restoration = restore(choice, denoiser, problem, options);
    samples = result.restoration.samples;
  } else {
    std::tie(result.restoration, samples) =
        restore_holes(choice, denoiser, problem, windows, options);
    report.windows = std::move(windows);
  }
  options.on_mean = {};
  if (measurement.shown) result.restoration = part_of(result.restoration, *measurement.shown);
  report.quick = request.quick;
  add_results(report, result.restoration, measurement.truth);
  report.evaluations_per_sample /= static_cast<double>(parts);
  report.measured_share =
      problem.measurements().item<double>() / static_cast<double>(problem.y[0].numel());
  if (!request.quick) {
    Problem stated = report.windows.empty() ? plain : seen;
    stated.sigma_y = problem.sigma_y;
    const TrialSampler sampler{choice, denoiser, options, whitening};
    judge(request, sampler, stated, chosen, network, samples, result);
  }
  report.warnings = result.warnings;
  return result;
}

}  // namespace eps
