// Two pixels, one measurement, and a prior of which every posterior is known: samples of methods
// beside the truth.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "eps/methods/method.h"
#include "eps/operators/factories.h"
#include "eps/priors/mixture.h"
#include "eps/serve/endpoints.h"

namespace eps::serve {
namespace {

constexpr int64_t kMostPoints = 2000, kMostSteps = 100;
const Shape kTwoPixels = {1, 1, 2};  // C x H x W

double number_in(
    const Request& request, const std::string& name, double otherwise, double least, double most) {
  const std::string text = request.value(name);
  if (text.empty()) return otherwise;
  double value = NAN;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc() && stop == text.data() + text.size();
  check(is_number && value >= least && value <= most,
        name,
        ": a number from ",
        least,
        " to ",
        most,
        " is wanted");
  return value;
}

Tensor direction_in(const Request& request) {
  const std::string text = request.value("a");
  if (text.empty()) return at::tensor({1.0, 0.5}, at::kDouble);
  const size_t comma = text.find(',');
  check(comma != std::string::npos, "a: two numbers are wanted, such as 1,0.5");
  Request part;
  part.query = {{"a", text.substr(0, comma)}, {"b", text.substr(comma + 1)}};
  const double first = number_in(part, "a", 0, -10, 10), second = number_in(part, "b", 0, -10, 10);
  check(std::hypot(first, second) > 1e-3, "a: a direction is wanted, not 0");
  return at::tensor({first, second}, at::kDouble);
}

Mixture prior_in(const Request& request) {
  const std::string name = request.value("prior");
  check(name.empty() || name == "gaussian" || name == "mixture",
        "prior: gaussian or mixture is wanted");
  const auto numbers = [](std::vector<double> values, const Shape& shape) {
    return at::tensor(values, at::kDouble).reshape(shape);
  };
  if (name == "gaussian")
    return {numbers({1}, {1}),
            numbers({0.1, -0.1}, {1, 1, 1, 2}),
            numbers({0.20, 0.12, 0.12, 0.15}, {1, 2, 2})};
  return {numbers({0.45, 0.35, 0.2}, {3}),
          numbers({-0.45, 0.35, 0.45, 0.25, 0.1, -0.5}, {3, 1, 1, 2}),
          numbers({0.030, 0.012, 0.012, 0.020, 0.020, -0.008, -0.008, 0.025, 0.035, 0, 0, 0.010},
                  {3, 2, 2})};
}

Json list_json(const Tensor& values) {
  if (values.dim() == 0) return values.item<double>();
  Json list = Json::array();
  for (int64_t k = 0; k < values.size(0); ++k) list.push_back(list_json(values[k]));
  return list;
}

Json components_json(const Mixture& law) {
  Json all = Json::array();
  for (int64_t k = 0; k < law.weights().size(0); ++k)
    all.push_back({{"weight", law.weights()[k].item<double>()},
                   {"mean", list_json(law.means()[k].flatten())},
                   {"covariance", list_json(law.covariances()[k])}});
  return all;
}

// The methods that are drawn: EPS, exact but for its steps, and zero-shot ones, each with its own
// approximation of the likelihood.
struct Drawn {
  const char *name, *spec;
  const char* scaled = "";  // a step size for images of 3 x 64 x 64, by the norm of their noise
};
constexpr std::array<Drawn, 4> kDrawn = {
    {{"EPS", "eps"}, {"PiGDM", "pigdm"}, {"DPS", "dps", "scale"}, {"DDNM", "ddnm"}}};

MethodChoice choice_of(const Drawn& one, int64_t steps) {
  const MethodChoice choice = choose_method(one.spec, "", steps);
  const std::string field = one.scaled;
  if (field.empty()) return choice;
  return choice.with(field, choice.options.real(field) * std::sqrt(2.0 / (3 * 64 * 64)));
}

}  // namespace

Answer exactness(Site& site, const Request& request) {
  const double sigma_y = number_in(request, "sigma_y", 0.1, 0.005, 2);
  const auto samples = static_cast<int64_t>(number_in(request, "samples", 400, 1, kMostPoints));
  const auto steps = static_cast<int64_t>(number_in(request, "steps", 20, 1, kMostSteps));
  const auto seed = static_cast<uint64_t>(number_in(request, "seed", 0, 0, 4294967295.0));
  const double y = number_in(request, "y", 0.3, -20, 20);
  const auto bench = site.bench.take();
  const Mixture prior = prior_in(request);
  const Problem problem{.A = dense_matrix(direction_in(request).reshape({1, 1, 2}), {1, 1, 1, 2}),
                        .y = at::full({1, 1}, y, at::kDouble),
                        .sigma_y = scalar(sigma_y)};
  Json drawn = Json::array();
  for (const Drawn& one : kDrawn) {
    Rng rng(seed, samples);
    const MethodChoice choice = choice_of(one, steps);
    Json entry = {{"name", one.name}, {"method", one.spec}};
    try {
      const Tensor points =
          sample_posterior(choice, prior, problem, {samples, 1, 1, 2}, rng).images;
      entry["samples"] = list_json(points.reshape({samples, 2}));
    } catch (const Error& error) {  // a step that diverges here
      entry["samples"] = Json::array();
      entry["error"] = error.what();
    }
    drawn.push_back(entry);
  }
  const Mixture posterior = prior.posterior(problem);
  Rng rng(seed);
  return json_answer(
      {{"methods", drawn},
       {"truth",
        {{"samples", list_json(posterior.sample(rng, samples).reshape({samples, 2}))},
         {"mean", list_json(posterior.mean().flatten())},
         {"covariance", list_json(posterior.covariance())},
         {"components", components_json(posterior)}}},
       {"prior", {{"components", components_json(prior)}}}});
}

}  // namespace eps::serve
