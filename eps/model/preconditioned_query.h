// The coefficients of one query, and the denoiser that they make of a network.
#pragma once

#include "eps/diffusion/query.h"
#include "eps/model/precondition.h"
#include "eps/nets/tiles.h"

namespace eps {

// A `PreconditionedQuery` applies the coefficients of one query.
class PreconditionedQuery {
 public:
  // The query's side holds the channels that the input lists, all but the skip; without a list the
  // network takes the side unchanged.
  PreconditionedQuery(const Preconditioning& preconditioning,
                      const Query& query,
                      const NetworkInput& input = {});

  // Returns the network's input: c_in x and the side channels, among them the linear estimate
  // m + c_skip (x - m) where the input lists the skip.
  Tensor input() const;
  const Tensor& noise_label() const { return noise_label_; }  // c_noise, (N or 1)
  // Returns m + c_skip (x - m) + c_out g F for F = `answer`, m the prior mean, g answer_scale().
  Tensor mean(const Tensor& answer) const;
  // Returns the target of F, (c_out g)^{-1} (x0 - m - c_skip (x - m)), and 0 along directions
  // without noise. Its variance is that of data like the prior's over g^2.
  Tensor target(const Tensor& x0) const;
  // Returns g, which broadcasts to x; undefined: 1. A pixel of noise v among pixels that say
  // nothing of it moves by v / sqrt(v + d) at most from x on the way to its mean, d its variance
  // about its surroundings, where c_out is about sqrt(v): a network that answers for the pixels
  // around it would add an error many times as large as that. Where neighbours are as well known, g
  // is 1.
  const Tensor& answer_scale() const { return answer_scale_; }
  // Returns the mean of c_out^2 over all directions, (N or 1, 1, 1, 1): the size of the error to
  // expect.
  Tensor mean_square_out() const;

 private:
  // A `Rule` maps the noise and prior variances of an eigendirection to its coefficient.
  using Rule = std::function<Tensor(const Tensor& v, const Tensor& p)>;
  class PriorVariance;
  struct Directions;
  std::shared_ptr<const Directions> make_directions(const Preconditioning& preconditioning,
                                                    const Query& query) const;
  std::vector<Tensor> filters(const Tensor& x, const std::vector<Rule>& rules) const;
  Tensor filter(const Tensor& x, const Rule& rule) const { return filters(x, {rule})[0]; }
  static Tensor c_in(const Tensor& v, const Tensor& p) { return (v + p).rsqrt(); }
  static Tensor c_skip(const Tensor& v, const Tensor& p) { return p / (v + p); }
  Tensor pixel_variances(const Query& query) const;  // of the noise, which broadcasts to x
  Tensor about_centre(const Tensor& x) const { return centre_.defined() ? x - centre_ : x; }
  Tensor from_centre(const Tensor& x) const { return centre_.defined() ? x + centre_ : x; }
  Tensor side(int64_t begin, int64_t end) const;  // these channels, scaled for the network

  Tensor x_;
  Operator A_;  // keeps the spectrum that the directions point to
  Tensor side_;
  NetworkInput input_;
  Tensor centre_ = {};  // the prior mean m; undefined: 0
  Tensor answer_scale_ = {};
  Tensor scaled_, skip_;           // c_in x and the linear estimate, if the input lists the skip
  PreconditioningCoefficients c_;  // (N or 1, 1, 1, 1), or 0-dimensional on the CPU
  Tensor noise_label_;
  std::shared_ptr<const Directions> directions_;  // none: the coefficients are the numbers in c_
};

// Returns E[x0 | query], float32 (N, img_channels, H, W), for sigma of one element or of N. With a
// generator the network is in training mode.
Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const NetworkInput& input,
               const Query& query,
               const Tensor& augment_labels = {},
               const at::Generator& training = {});

// Returns the same in inference, with the network evaluated in passes of the tiling.
Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const NetworkInput& input,
               const Query& query,
               const nets::Tiling& tiling);

// A `Conditioning` holds the optional inputs of a network under isotropic noise, beside x and
// sigma.
struct Conditioning {
  Tensor labels = {};       // (N, label_dim); an unconditional network ignores them
  Tensor side = {};         // (N, C', H, W): the further channels, but for the skip
  NetworkInput input = {};  // of the network; needed where the input scales the side or has a skip
  Tensor augment_labels = {};   // (N, augment_dim)
  at::Generator training = {};  // given: training mode, with dropout drawn from it
};
Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const Tensor& x,
               const Tensor& sigma,
               const Conditioning& conditioning = {});

}  // namespace eps
