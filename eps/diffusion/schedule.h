// An interpolant x_t = alpha_t x0 + beta_t eps, Eq. (1), label eq:interpolant, carries the data to
// noise.
//
// Every schedule is the same process in other coordinates: z = x_t / alpha is x0 plus noise of
// standard deviation sigma = beta / alpha. So a grid is chosen in sigma and carried over to t.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Each of the `Coefficients` is a per-sample scalar; dalpha and dbeta are derivatives with respect
// to t.
struct Coefficients {
  Tensor alpha, beta, dalpha, dbeta;
  Tensor sigma() const { return beta / alpha; }
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual Coefficients at(const Tensor& t) const = 0;
  virtual Tensor time(const Tensor& sigma) const = 0;  // the t at which beta / alpha = sigma
};

// A `VpRate` is the linear noise rate b(t) = beta_min + beta_d t of the variance-preserving process
// (Song et al. 2021), in EDM's letters: sigma(t)^2 = exp(B(t)) - 1, where B is the integral of b
// over [0, t].
struct VpRate {
  double beta_d = 19.9;
  double beta_min = 0.1;

  Tensor integral(const Tensor& t) const;  // B(t)
  Tensor sigma(const Tensor& t) const;
  Tensor time(const Tensor& sigma) const;  // the inverse of sigma(), accurate at small t, too
};

const Schedule& edm();  // alpha = 1, beta = t: variance exploding (Karras et al. 2022)
const Schedule&
vp_linear();  // alpha^2 + beta^2 = 1, linear noise rate 0.1 ... 20 (Song et al. 2021)
const Schedule& vp_cosine();       // alpha^2 + beta^2 = 1, cosine (Nichol & Dhariwal 2021)
const Schedule& rectified_flow();  // alpha = 1 - t, beta = t (Liu et al. 2022)

// Returns these four schedules by name: "edm", "vp_linear", "vp_cosine", "flow".
const std::map<std::string, const Schedule*>& schedules();

// These functions turn one quantity at (x_t, t) into another: mean = E[x0 | x_t, ...], score = grad
// log p(x_t | ...), noise = E[eps | x_t, ...], velocity = E[dalpha x0 + dbeta eps | x_t, ...]. With
// the conditional mean these are the posterior's: Eqs. (3), (4), (11), (13).
Tensor score_from_mean(const Tensor& x_t, const Tensor& mean, const Coefficients& c);
Tensor noise_from_mean(const Tensor& x_t, const Tensor& mean, const Coefficients& c);
Tensor velocity_from_mean(const Tensor& x_t, const Tensor& mean, const Coefficients& c);
Tensor mean_from_score(const Tensor& x_t, const Tensor& score, const Coefficients& c);
Tensor mean_from_noise(const Tensor& x_t, const Tensor& noise, const Coefficients& c);
Tensor mean_from_velocity(const Tensor& x_t, const Tensor& velocity, const Coefficients& c);

// A `GridOptions` places steps + 1 times from sigma_max down to 0.
struct GridOptions {
  // edm: EDM's rho-grid, sigma^(1/rho) equally spaced down to sigma_min, then 0.
  // log_sigma: log sigma equally spaced down to sigma_min, then 0.
  // uniform: t equally spaced down to 0.
  std::string kind = "edm";
  int64_t steps = 20;
  double sigma_min = 0.002;
  double sigma_max = 80;
  double rho = 7;
};
Tensor time_grid(const Schedule& schedule, const GridOptions& options);

}  // namespace eps
