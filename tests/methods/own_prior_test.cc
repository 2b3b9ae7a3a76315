// Networks of the posterior as the priors of zero-shot methods: what measures nothing leaves the
// prior.
#include "eps/model/network_denoiser.h"
#include "eps/operators/factories.h"
#include "tests/methods/method_testbed.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

// Answers a prior's query by the posterior of another denoiser, under an operator A = 0.
class OwnPrior final : public Denoiser {
 public:
  explicit OwnPrior(const Denoiser& posterior) : posterior_(posterior) {}
  Tensor mean(const Query& query) const override {
    return posterior_.mean(unmeasured_(NetworkInput::eps_precision, query));
  }

 private:
  const Denoiser& posterior_;
  const UnmeasuredQueries unmeasured_;
};

// Asks a network for its posterior under a mask without a pixel.
class Missing final : public Denoiser {
 public:
  Missing(const Denoiser& network, const NetworkInput& input) : network_(network), input_(input) {}
  Tensor mean(const Query& query) const override {
    Rng rng(1);
    const Problem nothing =
        observe(inpainting(at::zeros({1, 1, 8, 8})), at::zeros_like(query.x), scalar(1), rng);
    return network_.mean(make_query(input_, nothing, query.x, edm().at(query.sigma)));
  }

 private:
  const Denoiser& network_;
  const NetworkInput input_;
};

// Returns every zero-shot method, with few steps.
std::vector<std::string> zero_shot_methods() {
  std::vector<std::string> specs;
  for (const auto& [name, method] : methods()) {
    if (method.input != NetworkInput::prior) continue;
    const std::string steps = choose_method(name).options.has("steps") ? ":steps=4" : "";
    specs.push_back(name + steps + (name == "repaint" ? ",jump=2,resamples=2" : ""));
  }
  return specs;
}

TEST(OwnPrior, OfAnExactDenoiserIsThePrior) {
  const MethodTestbed bed("inpaint_random:missing=0.5");
  const Mixture mixture = example_mixture({1, 4, 4}, 3, 5);
  for (const std::string& spec : zero_shot_methods()) {
    SCOPED_TRACE(spec);
    const auto samples = [&](const Denoiser& denoiser) {
      Rng rng(21, 3);
      return sample_posterior(choose_method(spec), denoiser, bed.problem, bed.shape, rng).images;
    };
    expect_close(samples(OwnPrior(mixture)), samples(mixture), 1e-8);
  }
}

TEST(OwnPrior, HasTheDerivativeOfItsDifferences) {
  constexpr double kStep = 1e-5;  // errors of differences: kStep^2, and 1e-16 / kStep
  const MethodTestbed bed("inpaint_random:missing=0.5");
  const Mixture mixture = example_mixture({1, 4, 4}, 3, 5);
  const OwnPrior prior(mixture);
  Oracle oracle(prior, bed.problem);
  Rng rng(2, 3);
  const Tensor x = rng.normal(bed.shape), u = rng.normal(bed.shape), v = rng.normal(bed.shape);
  for (const Tensor& sigma : {scalar(0.5), at::tensor({0.2, 0.5, 3.0}, at::kDouble)}) {
    const Tensor moved =
        (oracle.denoise(x + kStep * u, sigma) - oracle.denoise(x - kStep * u, sigma)) / (2 * kStep);
    const Tensor pulled = oracle.linearise(x, sigma).vjp(v);
    expect_close((pulled * u).sum({1, 2, 3}), (moved * v).sum({1, 2, 3}), 1e-7);
  }
}

// To the last bit, through derivatives and batches too.
TEST(OwnPrior, OfANetworkIsItsPosteriorOfNothing) {
  for (const NetworkInput& input : {NetworkInput::eps, NetworkInput::eps_precision}) {
    nets::UNetConfig config = small_ncsnpp();
    config.in_channels = input.channels(config.img_channels);
    const NetworkDenoiser network({.network = wave_network(config), .input = input});
    Rng streams(3, 2);
    const Tensor x0 = 0.3 * streams.normal({2, 3, 8, 8});
    const Problem problem =
        observe(make_operator("inpaint_random:missing=0.5", x0, streams), x0, scalar(0.1), streams);
    for (const std::string& spec : zero_shot_methods()) {
      SCOPED_TRACE(spec);
      const auto samples = [&](const Denoiser& denoiser) {
        Rng rng(21, 2);
        return sample_posterior(
                   choose_method(spec), denoiser, problem, {2, 3, 8, 8}, rng, {.vjp_batch = 1})
            .images;
      };
      EXPECT_TRUE(at::equal(samples(network), samples(Missing(network, input))));
    }
  }
}

}  // namespace
}  // namespace eps
