// The coefficients of one query, and the denoiser that they make of a network.
#include "eps/model/preconditioned_query.h"

#include "eps/math/pyramid.h"
#include "eps/math/spectrum.h"

namespace eps {

// A `PriorVariance` is the prior variance p along the eigendirections of A'A, in the layout of the
// eigenvalues e.
class PreconditionedQuery::PriorVariance {
 public:
  // Without an operator, the eigendirections are frequencies.
  PriorVariance(const Preconditioning& p, const LinearOperator* A, const Tensor& x)
      : constant_(p.sigma_data * p.sigma_data), source_(p.prior_variance) {
    if (source_ == "constant") return;
    check(p.spectrum.defined(),
          "preconditioning: prior_variance=",
          p.prior_variance,
          " needs the spectrum of the data");
    check(p.spectrum.size(0) == x.size(2) && p.spectrum.size(1) == x.size(3) / 2 + 1,
          "preconditioning: the spectrum of the data is that of images of ",
          p.spectrum.size(0),
          " x ",
          2 * (p.spectrum.size(1) - 1),
          " pixels, got ",
          x.size(2),
          " x ",
          x.size(3));
    const Tensor spectrum = p.spectrum.to(x.options());
    power_ = A ? A->functions().kept_prior_power(spectrum, x, A->format().batch())
               : [spectrum](const Tensor&) { return spectrum; };
  }

  Tensor at(const Tensor& e) const {
    if (source_ == "constant") return scalar(constant_);
    const Tensor power = power_(e).clamp_min(1e-8);
    return source_ == "spectrum" ? power : (power * constant_).sqrt();
  }

 private:
  double constant_;
  std::string source_;
  EigenvalueMap power_;
};

// The `Directions` of a query are the eigendirections of its noise, with the variances of noise and
// prior along each.
struct PreconditionedQuery::Directions {
  const Spectral* A;  // none: isotropic noise, along frequencies
  Tensor sigma_squared, sigma_y_squared;
  PriorVariance p;
  // The variances of noise and prior at the last eigenvalues, which all rules share.
  mutable Tensor last_e = {}, last_v = {}, last_p = {};

  // Returns the rule as a map of eigenvalues. The map owns the directions, since derivatives may be
  // taken after the query is gone.
  static EigenvalueMap gain(std::shared_ptr<const Directions> of, const Rule& rule) {
    return [of = std::move(of), rule](const Tensor& e) {
      if (!of->last_e.defined() || !of->last_e.is_same(e)) {
        of->last_v =
            pivot_variance(e, per_sample(of->sigma_squared, e), per_sample(of->sigma_y_squared, e));
        of->last_p = of->p.at(e);
        of->last_e = e;
      }
      return rule(of->last_v, of->last_p);
    };
  }
  Tensor isotropic_gain(const Rule& rule, const Tensor& x) const {
    return rule(per_sample(sigma_squared, x), p.at({}));
  }
};

namespace {

// Returns g of pixels of noise v: sqrt(v/d), d > v the geometric mean of the noise of the pixels
// around, each at most the variance of a pixel about its surroundings. Undefined where v is the
// same everywhere.
Tensor scale_among_neighbours(const Tensor& v) {
  if (v.dim() < 4 || v.size(2) == 1 || v.size(3) == 1) return {};
  const Tensor mean =
      at::avg_pool2d(v.clamp_max(kPixelDetail).log(), {3, 3}, {1, 1}, {1, 1}, false, false).exp();
  return (v / at::maximum(v, mean)).sqrt();
}

}  // namespace

PreconditionedQuery::PreconditionedQuery(const Preconditioning& preconditioning,
                                         const Query& query,
                                         const NetworkInput& input)
    : x_(query.x.to(at::kFloat)), A_(query.A), side_(query.side), input_(input) {
  const Tensor& sigma = query.sigma;
  check(sigma.numel() == 1 || sigma.numel() == x_.size(0),
        "denoise: one sigma or one per image is wanted, got ",
        to_string(sigma.sizes()),
        " for ",
        x_.size(0),
        " images");
  // A single noise level on the CPU stays there: as scalars its coefficients meet a GPU's images
  // without the synchronisation of a copy.
  const bool host_scalar = sigma.numel() == 1 && sigma.device().is_cpu();
  c_ = coefficients(preconditioning,
                    host_scalar ? sigma.reshape({}) : sigma.to(x_.device()).reshape({-1, 1, 1, 1}));
  noise_label_ =
      host_scalar ? at::full({1}, c_.c_noise.item<float>(), x_.options()) : c_.c_noise.flatten();
  if (preconditioning.kind == Preconditioning::Kind::anisotropic)
    directions_ = make_directions(preconditioning, query);
  if (preconditioning.prior_mean == "neighbours") {
    const Tensor v = pixel_variances(query);
    centre_ = pyramid_estimate(x_, v);
    answer_scale_ = scale_among_neighbours(v);
  }
  if (!input_.has(Channel::skip)) return;
  if (centre_.defined() && directions_) {
    scaled_ = filter(x_, c_in);
    skip_ = from_centre(filter(about_centre(x_), c_skip));
  } else if (directions_) {
    const std::vector<Tensor> both = filters(x_, {c_in, c_skip});
    scaled_ = both[0];
    skip_ = both[1];
  } else {
    scaled_ = x_ * c_.c_in;
    skip_ = from_centre(about_centre(x_) * c_.c_skip);
  }
}

Tensor PreconditionedQuery::pixel_variances(const Query& query) const {
  const Tensor sigma_squared = query.sigma.to(at::kFloat).square();
  if (!query.A) return per_sample(sigma_squared, x_);
  const Tensor sigma_y_squared = query.sigma_y.to(at::kFloat).square();
  const auto variance = [&](const Tensor& e) {
    return pivot_variance(e, per_sample(sigma_squared, e), per_sample(sigma_y_squared, e));
  };
  // One image answers for all that have the same operator and noise.
  const Spectral& A = query.A->functions();
  const bool alike =
      query.A->format().batch() == 1 && query.sigma.numel() == 1 && query.sigma_y.numel() == 1;
  // What is measured without noise has a variance of 0, of which there is no precision.
  return A.quick_diagonal(alike ? x_.slice(0, 0, 1) : x_, variance).clamp_min(1e-10);
}

std::shared_ptr<const PreconditionedQuery::Directions> PreconditionedQuery::make_directions(
    const Preconditioning& preconditioning, const Query& query) const {
  const Tensor sigma_squared = query.sigma.to(at::kFloat).square();
  if (query.A) {
    const Spectral* spectral = &query.A->functions();
    return std::make_shared<Directions>(
        Directions{spectral,
                   sigma_squared,
                   query.sigma_y.to(at::kFloat).square(),
                   PriorVariance(preconditioning, query.A.get(), x_)});
  }
  // With a constant p all directions are alike, and EDM's numbers are the answer.
  if (preconditioning.prior_variance == "constant") return nullptr;
  return std::make_shared<Directions>(
      Directions{nullptr, sigma_squared, {}, PriorVariance(preconditioning, nullptr, x_)});
}

std::vector<Tensor> PreconditionedQuery::filters(const Tensor& x,
                                                 const std::vector<Rule>& rules) const {
  std::vector<EigenvalueMap> gains;
  std::vector<Tensor> all;
  for (const Rule& rule : rules) {
    if (directions_->A)
      gains.push_back(Directions::gain(directions_, rule));
    else
      all.push_back(filter_spectrum(x, directions_->isotropic_gain(rule, x)));
  }
  return directions_->A ? directions_->A->filters(x, gains) : all;
}

Tensor PreconditionedQuery::input() const {
  std::vector<Tensor> all = {scaled_.defined() ? scaled_
                             : directions_     ? filter(x_, c_in)
                                               : x_ * c_.c_in};
  const int64_t width = side_.defined() ? side_.size(1) : 0;
  int64_t before = 0;  // channels of the side in front of the skip
  if (skip_.defined()) {
    for (auto channel = input_.side.begin(); *channel != Channel::skip; ++channel)
      before += x_.size(1);
    if (before > 0) all.push_back(side(0, before));
    all.push_back(skip_);
  }
  if (before < width) all.push_back(side(before, width));
  return all.size() == 1 ? all[0] : at::cat(all, 1);
}

Tensor PreconditionedQuery::side(int64_t begin, int64_t end) const {
  const Tensor channels = side_.slice(1, begin, end).to(x_.options());
  return input_.scale_side ? channels * c_.c_in : channels;
}

Tensor PreconditionedQuery::mean(const Tensor& answer) const {
  const auto c_out = [](const Tensor& v, const Tensor& p) { return (v * p / (v + p)).sqrt(); };
  const auto linear = [&] {
    const Tensor x = about_centre(x_);
    return from_centre(directions_ ? filter(x, c_skip) : x * c_.c_skip);
  };
  const Tensor scaled = answer_scale_.defined() ? answer * answer_scale_ : answer;
  return (skip_.defined() ? skip_ : linear()) +
         (directions_ ? filter(scaled, c_out) : scaled * c_.c_out);
}

Tensor PreconditionedQuery::target(const Tensor& x0) const {
  const Tensor clean = x0.to(at::kFloat);
  const auto unscaled = [&](const Tensor& answer) {
    return answer_scale_.defined() ? answer / answer_scale_ : answer;
  };
  if (!directions_)
    return unscaled((about_centre(clean) - about_centre(x_) * c_.c_skip) / c_.c_out);
  // With m = 0, (x0 - c_skip x) / c_out = (v x0 - p (x - x0)) / sqrt(v p (v + p)), which at v = 0
  // is 0/0.
  const auto of_clean = [](const Tensor& v, const Tensor& p) { return (v / (p * (v + p))).sqrt(); };
  const auto of_noise = [](const Tensor& v, const Tensor& p) {
    return at::logical_not(v == 0) * (p / ((v + (v == 0)) * (v + p))).sqrt();
  };
  return unscaled(filter(about_centre(clean), of_clean) - filter(x_ - clean, of_noise));
}

Tensor PreconditionedQuery::mean_square_out() const {
  if (!directions_) return c_.c_out.square();
  const Rule square_out = [](const Tensor& v, const Tensor& p) { return v * p / (v + p); };
  if (directions_->A)
    return directions_->A->mean_eigenvalue(x_, Directions::gain(directions_, square_out));
  return spectral_mean(directions_->isotropic_gain(square_out, x_), x_.size(3))
      .expand_as(x_)
      .mean({1, 2, 3}, true);
}

namespace {

void check_image(const nets::UNet& network, const Tensor& x) {
  const int64_t channels = network.config().img_channels;
  check(x.dim() == 4 && x.size(1) == channels,
        "denoise: x must be N x ",
        channels,
        " x H x W, got ",
        to_string(x.sizes()));
}

Tensor labels_for(const nets::UNet& network, const Query& query) {
  return network.config().label_dim > 0 ? query.labels : Tensor();
}

}  // namespace

Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const NetworkInput& input,
               const Query& query,
               const Tensor& augment_labels,
               const at::Generator& training) {
  check_image(network, query.x);
  const PreconditionedQuery scaling(preconditioning, query, input);
  const Tensor answer = network.forward(
      scaling.input(), scaling.noise_label(), labels_for(network, query), augment_labels, training);
  return scaling.mean(answer.slice(1, 0, network.config().img_channels));
}

Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const NetworkInput& input,
               const Query& query,
               const nets::Tiling& tiling) {
  check_image(network, query.x);
  const PreconditionedQuery scaling(preconditioning, query, input);
  const Tensor answer = forward_in_tiles(
      network, tiling, scaling.input(), scaling.noise_label(), labels_for(network, query));
  return scaling.mean(answer.slice(1, 0, network.config().img_channels));
}

Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const Tensor& x,
               const Tensor& sigma,
               const Conditioning& conditioning) {
  Query query{x, sigma};
  query.side = conditioning.side;
  query.labels = conditioning.labels;
  return denoise(network,
                 preconditioning,
                 conditioning.input,
                 query,
                 conditioning.augment_labels,
                 conditioning.training);
}

}  // namespace eps
