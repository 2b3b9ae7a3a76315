// The registry holds all methods, and sample_posterior() is the one way to run them.
#include "eps/methods/method.h"

#include "eps/base/registered.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"

namespace eps {
namespace {

Registered<Method>& registry() {
  static Registered<Method> all("method");
  return all;
}

// Returns the fields with the values for the task's kind of operator as their defaults.
std::vector<Field> fields_for(const Method& method, const std::string& task) {
  std::vector<Field> fields = method.fields;
  if (task.empty()) return fields;
  const auto found = method.kinds.find(kind_of(find_task(task).test));
  if (found == method.kinds.end()) return fields;
  const Spec values = Spec::parse(method.name + ":" + found->second).resolve(fields);
  for (Field& field : fields)
    if (values.has(field.name)) field.value = values.text(field.name);
  return fields;
}

Samples draw(const MethodChoice& choice,
             const Denoiser& denoiser,
             const Problem& problem,
             const Shape& shape,
             Rng& rng,
             const SampleOptions& options) {
  const c10::NoGradGuard no_gradients;
  Problem wide = problem;
  wide.y = problem.y.to(at::kDouble);
  if (wide.sigma_y.dim() > 0) wide.sigma_y = wide.sigma_y.to(wide.y.options());
  Oracle oracle(denoiser, wide, options.vjp_batch);
  oracle.on_estimate = options.on_estimate;
  oracle.on_evaluation = options.on_evaluation;
  const Tensor noise = rng.normal(shape, wide.y.options());
  const Tensor images = choice.method.sample(oracle, choice.options, noise, rng);
  return {images, oracle.cost()};
}

}  // namespace

const std::map<std::string, Method>& methods() { return registry().all(); }

bool register_method(Method method) { return registry().add(method); }

MethodChoice choose_method(const std::string& spec, const std::string& task, int64_t steps) {
  Spec given = Spec::parse(spec);
  if (steps > 0) {
    check(!given.has("steps"), "steps ", steps, ": ", spec, " sets steps already");
    given = given.with("steps", steps);
  }
  const auto found = methods().find(given.name());
  if (found == methods().end()) throw UnknownName("method", given.name(), names_of(methods()));
  const Method& method = found->second;
  return {method, given.resolve(fields_for(method, task))};
}

std::string method_served_by(const NetworkInput& network) {
  for (const auto& [name, input] : input_presets())
    if (methods().contains(name) && serves(network, input)) return name;
  fail("no method takes a network with the input ", to_string(network));
}

Samples sample_posterior(const MethodChoice& choice,
                         const Denoiser& denoiser,
                         const Problem& problem,
                         const Shape& shape,
                         Rng& rng,
                         const SampleOptions& options) {
  const Method& method = choice.method;
  check(denoiser.input_for(method.input).has_value(),
        "method ",
        method.name,
        ": needs a denoiser for the input ",
        to_string(method.input),
        ", which this one is not");
  check(shape.size() == 4,
        "method ",
        method.name,
        ": samples are N x C x H x W, got ",
        to_string(shape));
  const auto one_or_each = [&](const char* what, int64_t count) {
    check(count == 1 || count == shape[0],
          "method ",
          method.name,
          ": ",
          count,
          " ",
          what,
          " for samples of ",
          to_string(shape));
  };
  one_or_each("measurements", problem.y.size(0));
  one_or_each("operators", problem.A->format().batch());
  one_or_each("noise levels sigma_y", problem.sigma_y.numel());
  if (problem.labels.defined()) one_or_each("labels", problem.labels.size(0));
  const Tensor allowed = at::logical_and(problem.sigma_y >= 0, at::isfinite(problem.sigma_y));
  check(allowed.all().item<bool>(),
        "method ",
        method.name,
        ": sigma_y must be finite and at least 0");
  const Samples samples = draw(choice, denoiser, problem, shape, rng, options);
  check(at::isfinite(samples.images).all().item<bool>(),
        "method ",
        method.name,
        ": the samples are not finite; a step size may be too large for this problem");
  return samples;
}

Cost measured_cost(const MethodChoice& choice) {
  // Every method takes this prior, which has an answer for all inputs, and the operator below.
  class Any final : public Denoiser {
   public:
    Tensor mean(const Query& query) const override {
      return query.x * (1 / (1 + query.sigma.square()));
    }
    std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
      return method;
    }
  };
  const Shape shape{1, 1, 4, 4};
  Rng rng(0);
  const Tensor mask = at::arange(16, at::kDouble).remainder(2).reshape({1, 1, 4, 4});
  const Problem problem = observe(inpainting(mask), 0.5 * rng.normal(shape), scalar(0.05), rng);
  // sample_posterior() would refuse step sizes that are meant for another operator and diverge
  // here, at the same cost.
  return draw(choice, Any(), problem, shape, rng, {}).cost;
}

}  // namespace eps
