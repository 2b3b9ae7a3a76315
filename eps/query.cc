// What a denoiser is asked at (x_t, y, t).
#include "eps/query.h"

#include "eps/operators/partition.h"
#include "eps/spec.h"

namespace eps {
namespace {

// ln(diag Sigma_star) / 8 as an image like x.
Tensor log_deviation(const Query& query) {
  const Tensor& x = query.x;
  std::vector<Tensor> all;
  for (const auto& [A, begin, end] : parts_of(query.A, x.size(0))) {
    const Tensor own = x.slice(0, begin, end);
    const Tensor level = slice_sample(query.sigma, begin, end).square();
    const Tensor noise = slice_sample(query.sigma_y, begin, end).square();
    const Tensor diagonal = A->filter_diagonal(own, [&](const Tensor& e) {
      return pivot_variance(e, per_sample(level, e), per_sample(noise, e));
    });
    all.push_back((diagonal.log() / 8).expand_as(own));
  }
  return at::cat(all);
}

}  // namespace

const std::map<std::string, Input>& inputs() {
  static const std::map<std::string, Input> table = {{"prior", Input::prior},
                                                     {"palette", Input::palette},
                                                     {"pivot", Input::pivot},
                                                     {"pivot_sigma", Input::pivot_sigma},
                                                     {"eps", Input::eps},
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
       "; wanted prior, palette, pivot, pivot_sigma, eps, indi or i2sb");
}

bool uses_pivot(Input input) {
  return input == Input::pivot || input == Input::pivot_sigma || input == Input::eps;
}

bool is_bridge(Input input) { return input == Input::indi || input == Input::i2sb; }

int64_t side_channels(Input input, int64_t image_channels) {
  const bool alone = input == Input::prior || input == Input::pivot || is_bridge(input);
  return alone ? 0 : image_channels;
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
  if (input == Input::palette || input == Input::eps)
    query.side = problem.A->picture(problem.y).expand_as(query.x);
  if (input == Input::pivot_sigma) query.side = log_deviation(query);
  query.labels = problem.labels;
  return query;
}

}  // namespace eps
