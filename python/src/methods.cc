// Methods, sampling and restoration of tensors with any denoiser.
#include "eps/diffusion/sampler.h"
#include "networks.h"
#include "python_operator.h"
#include "restorations.h"

namespace eps::python {
namespace {

// Returns the task of an operator for the defaults of a method; "" for one the registry lacks.
std::string task_of(const BoundOperator& A) {
  if (A.name.empty()) return "";
  return A.from_array ? A.name : A.spec;
}

Problem problem_of(const BoundOperator& A,
                   const BoundDenoiser& denoiser,
                   const Tensor& y,
                   double sigma_y) {
  check(denoiser.channels == 0 || denoiser.channels == A.image[0],
        "images of ",
        A.image[0],
        " channels; the denoiser takes ",
        denoiser.channels);
  check(A.device == denoiser.device,
        "the operator is on ",
        A.device,
        ", the denoiser on ",
        denoiser.device);
  check(sigma_y >= 0 && std::isfinite(sigma_y), "noise: must be finite and >= 0, got ", sigma_y);
  const Tensor known = A.measurements("y", y.detach()).to(at::kDouble);
  const Tensor measured = A.A->format().measured(at::ones_like(known));
  const Tensor filled = known.masked_fill(measured == 0, 0);
  check(at::isfinite(filled).all().item<bool>(), "y: finite numbers are wanted");
  return {A.A, filled, scalar(sigma_y)};
}

// Returns the evaluations that samples will take, by the cost of one for a small problem.
int64_t evaluations_of(const MethodChoice& choice, int64_t samples) {
  return measured_cost(choice).evaluations * samples;
}

// Draws one sample for each measurement of a batch.
Tensor sample_each(const std::string& spec,
                   const BoundDenoiser& denoiser,
                   const BoundOperator& A,
                   const Tensor& y,
                   double sigma_y,
                   int64_t samples,
                   uint64_t seed,
                   int64_t steps,
                   int64_t vjp_batch,
                   const py::object& report) {
  Watch watch(report);
  const py::gil_scoped_release released;
  check(steps >= 0 && vjp_batch >= 0, "method: steps and vjp_batch must be >= 0");
  check(samples >= 1, "method: samples must be at least 1, got ", samples);
  check(y.dim() >= 1 && (samples == 1 || y.size(0) == 1),
        "method: several samples are those of one measurement, got a batch");
  const Problem problem = problem_of(A, denoiser, y, sigma_y);
  const MethodChoice choice = method_for(spec, task_of(A), sigma_y, steps);
  const int64_t count = std::max(samples, y.size(0));
  watch.start("evaluations", evaluations_of(choice, count));
  Rng rng(derive_seed(seed, Stream::posterior_sample), count);
  return sample_posterior(choice,
                          *denoiser.denoiser,
                          problem,
                          {count, A.image[0], A.image[1], A.image[2]},
                          rng,
                          {.vjp_batch = vjp_batch,
                           .on_evaluation = [&](int64_t images) { watch.advance(images); }})
      .images;
}

// Restores one measurement with any denoiser, as restore_measurement() does with a checkpoint.
py::dict restore_tensor(const std::string& spec,
                        const BoundDenoiser& denoiser,
                        const BoundOperator& A,
                        const Tensor& y,
                        double sigma_y,
                        int64_t samples,
                        uint64_t seed,
                        int64_t steps,
                        int64_t batch,
                        const py::object& report) {
  Watch watch(report);
  RestorationResult result;
  {
    const py::gil_scoped_release released;
    check(steps >= 0, "restore: steps must be at least 1, got ", steps);
    check(sigma_y > 0, "restore: noise must be > 0, got ", sigma_y);
    check(samples >= 1 && samples <= 1000000, "restore: 1 to 1000000 samples, got ", samples);
    const Problem problem = problem_of(A, denoiser, y, sigma_y);
    const std::string method = spec.empty() ? method_served_by(denoiser.input) : spec;
    const MethodChoice choice = method_for(method, task_of(A), sigma_y, steps);
    watch.start("evaluations", evaluations_of(choice, samples));
    RestorationOptions options{.samples = samples, .batch = batch, .seed = seed};
    options.on_evaluation = [&](int64_t images) { watch.advance(images); };
    result.measurement.problem = problem;
    result.restoration = restore(choice, *denoiser.denoiser, problem, options);
    result.report = {.input = "y",
                     .operator_spec = A.spec,
                     .sigma_y = sigma_y,
                     .network = "a denoiser of one's own",
                     .method = choice.method.name,
                     .steps = steps,
                     .seed = seed};
    add_results(result.report, result.restoration, {});
  }
  return to_python(std::move(result));
}

// Returns the options of eps sample, checked; churn turns heun and euler into EDM's stochastic
// sampler.
SamplerOptions sampler_options(const std::string& solver,
                               int64_t steps,
                               double sigma_min,
                               double sigma_max,
                               double rho,
                               double churn,
                               double eta) {
  for (const double number : {sigma_min, sigma_max, rho})
    check(number > 0 && std::isfinite(number), "sample: sigma_min, sigma_max and rho must be > 0");
  check(churn >= 0 && std::isfinite(churn) && eta >= 0 && eta <= 1,
        "sample: churn must be >= 0 and eta in [0, 1]");
  check(std::count(solvers().begin(), solvers().end(), solver) > 0,
        "sample: the solver is ",
        alternatives(solvers()),
        ", got ",
        solver);
  SamplerOptions options;
  options.solver = solver;
  options.grid = {.steps = steps, .sigma_min = sigma_min, .sigma_max = sigma_max, .rho = rho};
  options.churn.S_churn = churn;
  options.eta = eta;
  if (churn > 0 && (solver == "heun" || solver == "euler")) {
    options.churn.second_order = solver == "heun";
    options.solver = "edm_churn";
  }
  check_solver_options(options, "");
  return options;
}

int64_t evaluations_of(const SamplerOptions& options, int64_t steps) {
  const bool two =
      options.solver == "heun" || (options.solver == "edm_churn" && options.churn.second_order);
  return two ? 2 * steps - 1 : steps;
}

void check_prior(const BoundDenoiser& prior, const Shape& image) {
  check(prior.denoiser->input_for(NetworkInput::prior).has_value(),
        "sample: a prior is wanted, this is a network for the input ",
        to_string(prior.input));
  check(image.size() == 3 && image[0] >= 1 && image[1] >= 1 && image[2] >= 1,
        "sample: a shape (C, H, W) is wanted");
  check(prior.channels == 0 || image[0] == prior.channels,
        "sample: the prior makes images of ",
        prior.channels,
        " channels");
}

// Draws images of a prior as eps sample does: image k from the noise of seed k.
Tensor sample_prior(const BoundDenoiser& prior,
                    const std::vector<uint64_t>& seeds,
                    const Shape& image,
                    const std::string& solver,
                    int64_t steps,
                    double sigma_min,
                    double sigma_max,
                    double rho,
                    double churn,
                    double eta,
                    int64_t batch,
                    const std::optional<Tensor>& labels,
                    const py::object& report) {
  Watch watch(report);
  const py::gil_scoped_release released;
  check_prior(prior, image);
  check(!seeds.empty() && batch >= 1 && steps >= 1, "sample: seeds, batch and steps of at least 1");
  const auto count = static_cast<int64_t>(seeds.size());
  check(!labels || (labels->dim() == 2 && labels->size(0) == count),
        "sample: labels are N x classes, a row for each image");
  const SamplerOptions options =
      sampler_options(solver, steps, sigma_min, sigma_max, rho, churn, eta);
  const c10::NoGradGuard no_gradients;
  const Tensor grid = noise_levels(*prior.denoiser, options.grid);
  watch.start("evaluations", count * evaluations_of(options, grid.numel() - 1));
  std::vector<Tensor> images;
  for (int64_t begin = 0; begin < count; begin += batch) {
    const int64_t end = std::min(begin + batch, count);
    Rng rng(0, std::vector<uint64_t>(seeds.begin() + begin, seeds.begin() + end));
    const Tensor noise = rng.normal({end - begin, image[0], image[1], image[2]}).to(prior.device);
    const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
      watch.advance(end - begin);
      Query query = prior_query(x.to(at::kFloat), edm().at(sigma));
      if (labels) query.labels = labels->slice(0, begin, end).to(prior.device, at::kFloat);
      return prior.denoiser->mean(query);
    };
    const Tensor x_T = initial_state(edm(), grid, noise);
    images.push_back(solve(mean, edm(), x_T, grid, options, rng).to(at::kFloat));
  }
  return at::cat(images);
}

py::dict method_entry(const std::string& spec, const std::string& task) {
  const MethodChoice choice = choose_method(spec, task);
  py::dict options;
  for (const Field& field : choice.method.fields)
    options[py::str(field.name)] =
        choice.options.has(field.name) ? choice.options.text(field.name) : "";
  py::dict entry;
  entry["name"] = choice.method.name;
  entry["summary"] = choice.method.summary;
  entry["inputs"] = to_string(choice.method.input);
  entry["options"] = options;
  return entry;
}

std::map<std::string, std::string> method_summaries() {
  std::map<std::string, std::string> all;
  for (const auto& [name, method] : methods()) all[name] = method.summary;
  return all;
}

}  // namespace

void bind_methods(py::module_& m) {
  m.def("image_shape_of", [](const std::string& name, const Shape& y) {
    return image_shape_of(find_task(name).test, y);
  });
  m.def("method_served_by",
        [](const std::string& inputs) { return method_served_by(parse_input(inputs)); });
  m.def("measurement_dims_of",
        [](const std::string& name) { return measurement_dims_of(find_task(name).test); });
  m.def("sample_each", &sample_each);
  m.def("restore_tensor", &restore_tensor);
  m.def("sample_prior", &sample_prior);
  m.def("method_entry", &method_entry);
  m.def("method_summaries", &method_summaries);
}

}  // namespace eps::python
