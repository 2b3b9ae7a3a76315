// What a denoiser is asked at (x_t, y, t).
#include "eps/diffusion/query.h"

#include "eps/base/spec.h"
#include "eps/operators/partition.h"

namespace eps {
namespace {

// diag f(A'A; sigma^2, sigma_y^2) as an image like x.
using Diagonal = std::function<Tensor(const Tensor& e, const Tensor& level, const Tensor& noise)>;
Tensor diagonal(const Query& query, const Diagonal& f) {
  const Tensor& x = query.x;
  std::vector<Tensor> all;
  for (const auto& [A, begin, end] : parts_of(query.A, x.size(0))) {
    const Tensor own = x.slice(0, begin, end);
    const Tensor level = slice_sample(query.sigma, begin, end).square();
    const Tensor noise = slice_sample(query.sigma_y, begin, end).square();
    all.push_back(A->filter_diagonal(own, [&](const Tensor& e) {
                     return f(e, per_sample(level, e), per_sample(noise, e));
                   }).expand_as(own));
  }
  return at::cat(all);
}

// ln(diag Sigma_star) / 8.
Tensor log_deviation(const Query& query) { return diagonal(query, pivot_variance).log() / 8; }

// ln(1 + diag(A'A)/(4 sigma_y^2)) / 8.
Tensor log_precision(const Query& query) {
  const auto known = [](const Tensor& e, const Tensor&, const Tensor& noise) { return e / noise; };
  return (diagonal(query, known) / 4).log1p() / 8;
}

}  // namespace

const std::map<std::string, Input>& inputs() {
  static const std::map<std::string, Input> table = {{"prior", Input::prior},
                                                     {"palette", Input::palette},
                                                     {"pivot", Input::pivot},
                                                     {"pivot_sigma", Input::pivot_sigma},
                                                     {"eps", Input::eps},
                                                     {"eps_precision", Input::eps_precision},
                                                     {"indi", Input::indi},
                                                     {"i2sb", Input::i2sb}};
  return table;
}

std::string to_string(Input input) {
  for (const auto& [name, value] : inputs())
    if (value == input) return name;
  fail("Input: no name for ", static_cast<int>(input));
}

Input parse_input(const std::string& name) {
  const auto found = inputs().find(name);
  if (found != inputs().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : inputs()) names.push_back(known);
  fail("unknown input \"",
       name,
       "\"",
       suggestion(name, names),
       "; wanted prior, palette, pivot, pivot_sigma, eps, eps_precision, indi or i2sb");
}

Input method_input(Input network) { return network == Input::eps_precision ? Input::eps : network; }

bool uses_pivot(Input input) {
  return input == Input::pivot || input == Input::pivot_sigma || input == Input::eps ||
         input == Input::eps_precision;
}

bool is_bridge(Input input) { return input == Input::indi || input == Input::i2sb; }

int64_t side_channels(Input input, int64_t image_channels) {
  const bool alone = input == Input::prior || input == Input::pivot || is_bridge(input);
  if (alone) return 0;
  return input == Input::eps_precision ? 2 * image_channels : image_channels;
}

Query prior_query(const Tensor& x_t, const Coefficients& c) {
  return {rescaled(x_t, c), c.sigma()};
}

Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  return {pivot(problem, x_t, c), c.sigma(), problem.A, problem.sigma_y};
}

Query make_query(Input input, const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  Query query = uses_pivot(input)  ? pivot_query(problem, x_t, c)
                : is_bridge(input) ? Query{x_t, c.sigma()}
                                   : prior_query(x_t, c);
  // One measurement may stand for all images.
  if (input == Input::palette || input == Input::eps || input == Input::eps_precision)
    query.side = problem.A->picture(problem.y).expand_as(query.x);
  if (input == Input::pivot_sigma) query.side = log_deviation(query);
  if (input == Input::eps_precision) query.side = at::cat({query.side, log_precision(query)}, 1);
  query.labels = problem.labels;
  return query;
}

}  // namespace eps
