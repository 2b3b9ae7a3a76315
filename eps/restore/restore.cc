// A measurement in a file restored by a network.
#include "eps/restore/restore.h"

#include <fmt/format.h>

#include <cmath>

#include "eps/model/network_denoiser.h"
#include "eps/restore/noise_level.h"
#include "eps/restore/operator_findings.h"
#include "eps/restore/training_range.h"

namespace eps {
namespace {

// Returns a warning about a kernel that is no average, most likely a mistake.
std::vector<std::string> kernel_warnings(const LinearOperator& A, const std::string& spec) {
  const auto parameters = A.format().parameters();
  const auto kernel = parameters.find("kernel");
  if (kernel == parameters.end()) return {};
  const double sum = kernel->second[0].sum().item<double>();
  if (std::abs(sum - 1) <= 0.05) return {};
  return {fmt::format("the kernel of {} has the sum {:.4g}, not 1", spec, sum)};
}

void validate(const RestorationRequest& request) {
  const auto at_least_one = [](const char* name, int64_t value) {
    check(value >= 1, "restore: ", name, " must be at least 1, got ", value);
  };
  at_least_one("samples", request.options.samples);
  at_least_one("batch", request.options.batch);
  if (request.steps != 0) at_least_one("steps", request.steps);
  if (!request.method.empty()) choose_method(request.method, "", request.steps);
  const double sigma_y = request.sigma_y.value_or(kSimulatedNoise);
  check(sigma_y > 0 && std::isfinite(sigma_y), "restore: sigma_y must be > 0, got ", sigma_y);
  const NoiseModel& noise = request.noise;
  const int models = !noise.channels.empty() + !noise.map.empty() + !noise.spectrum.empty() +
                     noise.growth.has_value();
  check(models <= 1, "restore: one model of the noise is wanted, got ", models);
  check(!noise.growth || request.sigma_y || request.simulate,
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
                RestorationResult& result) {
  const Problem& problem = result.measurement.problem;
  RestorationReport& report = result.report;
  const double factor = noise_factor(problem, network.network.config().img_channels);
  if (report.noise_estimated) {
    const Tensor measured = problem.A->format().measured(at::ones_like(problem.y));
    report.finest_detail = robust_noise_level(problem.y, measured);
    start_stage(request, "evaluations for the noise", kNoiseEvaluations);
    const double fitted =
        estimate_noise(network, request.network, denoiser, problem, request.options);
    const Range range = noise_search_range(network, request.network, factor);
    report.noise_at_limit = fitted <= range.low * (1 + 1e-9);
    if (const auto words = noise_excess_words(fitted, *report.finest_detail, range); !words.empty())
      report.findings.push_back(words);
    return fitted;
  }
  const double sigma_y = request.noise.is_white() ? request.sigma_y.value_or(kSimulatedNoise)
                                                  : problem.sigma_y.item<double>();
  const double seen = sigma_y * factor;
  warn(request, noise_warnings(request.network, network.provenance, seen), result);
  return sigma_y;
}

// Adds what speaks against the operator to the report. Only a suspicion costs evaluations: two
// samples with the kernel flipped, where that is another kernel.
void add_findings(const std::function<Restoration(const Problem&)>& restore_two,
                  RestorationResult& result) {
  const Problem& problem = result.measurement.problem;
  RestorationReport& report = result.report;
  report.residual = test_residuals(problem, result.restoration.samples);
  std::optional<ResidualTests> flipped;
  if (report.residual.any_found())
    if (const auto other = with_flipped_kernel(problem))
      flipped = test_residuals(*other, restore_two(*other).samples);
  const auto findings = operator_findings(report.residual, flipped, report.operator_spec);
  report.findings.insert(report.findings.begin(), findings.begin(), findings.end());
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
            .operator_spec = chosen.spec,
            .noise_estimated = !request.sigma_y && request.noise.is_white() && !request.simulate,
            .noise_words = request.noise.words(),
            .network = request.network,
            .seed = request.options.seed};
  check(!report.noise_estimated || is_for_posterior(network.input),
        request.method,
        ": the noise of the measurement must be stated; only a network trained for the posterior "
        "estimates it");
  warn(request, measurement.warnings, result);
  warn(request, kernel_warnings(*problem.A, chosen.spec), result);
  warn(request,
       operator_warnings(request.network,
                         network.provenance,
                         chosen.from_file ? chosen.name : chosen.spec,
                         config.img_resolution),
       result);
  if (!is_for_posterior(network.input))
    warn(
        request,
        {request.method + " approximates the posterior: chi2 and the intervals have its own error"},
        result);
  const NetworkDenoiser denoiser(network);
  if (!request.noise.is_white()) {
    problem.sigma_y = scalar(request.sigma_y.value_or(kSimulatedNoise));
    problem = whitened(request.noise, problem);
  }
  report.sigma_y = noise_of(request, network, denoiser, result);
  problem.sigma_y = scalar(report.sigma_y);
  report.method = request.method.empty() ? method_served_by(network.input) : request.method;
  const MethodChoice choice =
      method_for(report.method, task_of(chosen), report.sigma_y, request.steps);
  if (choice.options.has("steps")) report.steps = choice.options.integer("steps");
  RestorationOptions options = request.options;
  options.channels = config.img_channels;
  start_stage(request, "evaluations", measured_cost(choice).evaluations * options.samples);
  result.restoration = restore(choice, denoiser, problem, options);
  add_results(report, result.restoration, measurement.truth);
  report.measured_share =
      static_cast<double>(report.measurements) / static_cast<double>(problem.y.numel());
  const auto restore_two = [&](const Problem& other) {
    options.samples = 2;
    start_stage(request, "evaluations for a flipped kernel", measured_cost(choice).evaluations * 2);
    return restore(choice, denoiser, other, options);
  };
  add_findings(restore_two, result);
  report.warnings = result.warnings;
  return result;
}

}  // namespace eps
