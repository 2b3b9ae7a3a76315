// The query to a denoiser at (x_t, y, t).
#include "eps/diffusion/query.h"

#include "eps/base/lasting.h"
#include "eps/operators/factories.h"

namespace eps {
namespace {

// Returns diag f(A'A; sigma^2, sigma_y^2) as an image like x.
using Diagonal = std::function<Tensor(
    const Tensor& e, const Tensor& sigma_squared, const Tensor& sigma_y_squared)>;
Tensor diagonal(const Problem& problem, const Query& query, const Diagonal& f) {
  const Tensor sigma_squared = query.sigma.square(), sigma_y_squared = problem.sigma_y.square();
  const auto at_eigenvalue = [&](const Tensor& e) {
    return f(e, per_sample(sigma_squared, e), per_sample(sigma_y_squared, e));
  };
  return problem.A->functions().diagonal(query.x, at_eigenvalue).expand_as(query.x);
}

// Returns one channel of the side, an image like x.
Tensor side_channel(Channel channel, const Problem& problem, const Query& query) {
  switch (channel) {
    case Channel::y:  // one measurement may stand for all images
      return problem.A->format().picture(problem.y).expand_as(query.x);
    case Channel::deviation:
      return diagonal(problem, query, pivot_variance).log() / 8;
    case Channel::precision: {
      const Tensor known = problem.A->functions().normal_diagonal(query.x).expand_as(query.x);
      return (known / per_sample(4 * problem.sigma_y.square(), known)).log1p() / 8;
    }
    case Channel::skip:
      break;
  }
  fail("make_query: the preconditioning fills in the channel skip");
}

// Returns all channels of the side but the skip, undefined if there are none.
Tensor make_side(const NetworkInput& input, const Problem& problem, const Query& query) {
  std::vector<Tensor> side;
  for (const Channel channel : input.side)
    if (channel != Channel::skip) side.push_back(side_channel(channel, problem, query));
  if (side.empty()) return {};
  return side.size() == 1 ? side[0] : at::cat(side, 1);
}

// Returns the side, kept from the query before where it is the same: y and how much is known of
// each pixel do not change with x_t and the noise level, but the deviation does.
Tensor side_along(const NetworkInput& input,
                  const Problem& problem,
                  const Query& query,
                  Trajectory& trajectory) {
  const Tensor& kept = trajectory.side;
  const Problem& of = trajectory.problem;
  const bool same = kept.defined() && trajectory.input == input && of.A == problem.A &&
                    of.y.is_same(problem.y) && of.sigma_y.is_same(problem.sigma_y) &&
                    kept.size(0) == query.x.size(0) && kept.options().type_equal(query.x.options());
  if (same && !input.has(Channel::deviation)) return kept;
  trajectory.side = make_side(input, problem, query);
  trajectory.input = input;
  trajectory.problem = problem;
  return trajectory.side;
}

}  // namespace

Query prior_query(const Tensor& x_t, const Coefficients& c) {
  return {rescaled(x_t, c), c.sigma()};
}

Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  return {pivot(problem, x_t, c), c.sigma(), problem.A, problem.sigma_y};
}

Query make_query(const NetworkInput& input,
                 const Problem& problem,
                 const Tensor& x_t,
                 const Coefficients& c) {
  Trajectory alone;
  return make_query(input, problem, x_t, c, alone);
}

Query make_query(const NetworkInput& input,
                 const Problem& problem,
                 const Tensor& x_t,
                 const Coefficients& c,
                 Trajectory& trajectory) {
  Query query =
      input.geometry == Geometry::pivot
          ? Query{trajectory.pivots.next(problem, x_t, c), c.sigma(), problem.A, problem.sigma_y}
          : (input.is_bridge() ? Query{x_t, c.sigma()} : prior_query(x_t, c));
  query.side = side_along(input, problem, query, trajectory);
  query.labels = problem.labels;
  return query;
}

// A new mask is read for other values than 0 and 1, for which a GPU has to be waited for.
Operator UnmeasuredQueries::nothing_for(const Tensor& x) const {
  const std::lock_guard lock(mutex_);
  const bool known = mask_.defined() && mask_.sizes().slice(2) == x.sizes().slice(2) &&
                     mask_.device() == x.device();
  if (!known) {
    const Lasting operators;
    mask_ = at::zeros({1, 1, x.size(2), x.size(3)}, x.options().dtype(at::kDouble));
    nothing_ = inpainting(mask_);
  }
  return nothing_;
}

// Any sigma_y > 0 is right; with 1 the variance of the pivot rounds to sigma^2.
Query UnmeasuredQueries::operator()(const NetworkInput& input, const Query& prior) const {
  const Tensor& x = prior.x;
  const Problem nothing{
      .A = nothing_for(x), .y = at::zeros_like(x), .sigma_y = scalar(1), .labels = prior.labels};
  const Tensor one = scalar(1), zero = scalar(0);
  return make_query(input, nothing, x, {one, prior.sigma, zero, one});
}

}  // namespace eps
