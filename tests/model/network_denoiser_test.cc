// Networks as denoisers of pictures of any size.
#include "eps/model/network_denoiser.h"

#include <gtest/gtest.h>

#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/stationary.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

Checkpoint local_checkpoint(const std::string& prior_variance,
                            const std::string& prior_mean = "zero") {
  nets::UNetConfig config = small_local();
  const NetworkInput input = NetworkInput::eps_precision.with(Channel::skip);
  config.in_channels = input.channels(config.img_channels);
  return {.network = wave_network(config),
          .preconditioning = {.kind = Preconditioning::Kind::anisotropic,
                              .prior_variance = prior_variance,
                              .prior_mean = prior_mean,
                              .spectrum = natural_spectrum(16, 16)[0].to(at::kFloat)},
          .input = input};
}

// State, pivot and scales are those of the whole picture, so the tiles leave no trace.
TEST(NetworkDenoiser, MeansDoNotDependOnTheTiles) {
  for (const auto& [prior_variance, prior_mean] : {std::pair{"constant", "zero"},
                                                   {"geometric_mean", "zero"},
                                                   {"geometric_mean", "neighbours"}}) {
    const Checkpoint checkpoint = local_checkpoint(prior_variance, prior_mean);
    const NetworkDenoiser whole(checkpoint, int64_t{1} << 30);
    const double pixel = nets::bytes_of_pixel(checkpoint.network.plan(), at::kFloat);
    const NetworkDenoiser tiled(checkpoint, static_cast<int64_t>(90 * 90 * pixel));
    for (const char* spec : {"inpaint_random:missing=0.5",
                             "blur_gaussian:std=1,size=7,border=valid",
                             "blur_motion:length=5,angle=30",
                             "downscale:factor=2,filter=bicubic",
                             "bayer:pattern=rggb"}) {
      Rng rng(3, 2);
      const Tensor x0 = waves({2, 3, 116, 130}) / 4;
      const Operator A = make_operator(spec, x0, rng);
      const Problem problem = observe(A, x0, scalar(0.05), rng);
      const Query query = make_query(checkpoint.input.without(Channel::skip),
                                     problem,
                                     x0 + 0.7 * rng.normal(x0.sizes().vec(), at::kFloat),
                                     edm().at(scalar(0.7)));
      const Tensor wanted = whole.mean(query);
      EXPECT_LT(relative_error(tiled.mean(query), wanted), 1e-5) << spec << " " << prior_variance;
    }
  }
}

// The answer to a prior's query is, to the last bit, that of a mask without a pixel: of any size,
// on every schedule, for one noise level or one of each image.
TEST(NetworkDenoiser, OfThePosteriorIsItsOwnPrior) {
  for (const auto& [prior_variance, prior_mean] :
       {std::pair{"constant", "zero"}, {"geometric_mean", "neighbours"}}) {
    const Checkpoint checkpoint = local_checkpoint(prior_variance, prior_mean);
    const NetworkDenoiser denoiser(checkpoint);
    const NetworkInput own = *denoiser.input_for(NetworkInput::eps);
    ASSERT_EQ(denoiser.input_for(NetworkInput::prior), NetworkInput::prior);
    const Tensor x0 = waves({2, 3, 24, 40}) / 4;
    for (const auto& [name, schedule] : schedules())
      for (const Tensor& sigma : {scalar(0.7), at::tensor({0.1, 30.0}).reshape({2, 1, 1, 1})}) {
        SCOPED_TRACE(name + " " + prior_variance);
        Rng rng(3, 2);
        const Problem nothing = observe(inpainting(at::zeros({1, 1, 24, 40})), x0, scalar(1), rng);
        const Coefficients c = schedule->at(schedule->time(sigma));
        const Tensor noise = rng.normal(x0.sizes().vec(), at::kFloat);
        const Tensor x_t = (c.alpha * x0 + c.beta * noise).to(at::kFloat);
        const Tensor found = denoiser.mean(make_query(NetworkInput::prior, {}, x_t, c));
        EXPECT_TRUE(at::equal(found, denoiser.mean(make_query(own, nothing, x_t, c))));
        // One image by itself has another order of sums.
        for (int64_t i = 0; i < 2; ++i) {
          const Tensor level = slice_sample(c.sigma(), i, i + 1).flatten()[0];
          EXPECT_LT(relative_error(denoiser.mean({.x = x_t.slice(0, i, i + 1) /
                                                       slice_sample(c.alpha, i, i + 1),
                                                  .sigma = level}),
                                   found.slice(0, i, i + 1)),
                    1e-5);
        }
      }
  }
}

// The state counts once in c_in x, in the linear estimate and in the mean of the neighbours.
TEST(NetworkDenoiser, DerivativesOfItsOwnPriorAreThoseOfItsDifferences) {
  constexpr float kStep = 2e-3f;  // in float32, errors of differences are 1e-7 / kStep
  const NetworkDenoiser denoiser(local_checkpoint("geometric_mean", "neighbours"));
  for (const Tensor& sigma : {scalar(0.7), at::tensor({0.3, 2.0}, at::kDouble)}) {
    const Tensor x = waves({2, 3, 16, 16}).requires_grad_();
    Rng rng(5, 2);
    const Tensor u = rng.normal({2, 3, 16, 16}, at::kFloat);
    const Tensor v = rng.normal({2, 3, 16, 16}, at::kFloat);
    (denoiser.mean({.x = x, .sigma = sigma}) * v).sum().backward();
    const c10::NoGradGuard no_gradients;
    const Tensor moved = (denoiser.mean({.x = x + kStep * u, .sigma = sigma}) -
                          denoiser.mean({.x = x - kStep * u, .sigma = sigma})) /
                         (2 * kStep);
    const Tensor wanted = (moved * v).sum({1, 2, 3});
    EXPECT_LT(relative_error((x.grad() * u).sum({1, 2, 3}), wanted), 1e-2);
  }
}

TEST(NetworkDenoiser, WithoutWhatIsMeasuredIsNoPrior) {
  for (const char* name : {"palette", "pivot", "indi", "i2sb"}) {
    const NetworkInput input = parse_input(name);
    nets::UNetConfig config = small_ncsnpp();
    config.in_channels = input.channels(config.img_channels);
    const NetworkDenoiser denoiser({.network = wave_network(config), .input = input});
    EXPECT_FALSE(denoiser.input_for(NetworkInput::prior)) << name;
  }
}

TEST(NetworkDenoiser, DerivativesGoThroughTheWholePicture) {
  const Checkpoint checkpoint = local_checkpoint("constant");
  const NetworkDenoiser tiled(checkpoint, 1);
  const Query query = prior_query(waves({1, 3, 48, 48}).requires_grad_(), edm().at(scalar(0.7)));
  tiled.mean(query).sum().backward();
  EXPECT_GT(query.x.grad().norm().item<double>(), 0);
}

TEST(NetworkDenoiser, TheRadiusIsInTheMetadata) {
  const Checkpoint checkpoint = local_checkpoint("constant");
  const ModelConfig config{.network = checkpoint.network.config(),
                           .preconditioning = checkpoint.preconditioning,
                           .input = checkpoint.input};
  const std::string text = to_json(config);
  const std::string radius = std::to_string(*checkpoint.network.plan().receptive_radius());
  EXPECT_NE(text.find("\"receptive_radius\":" + radius), std::string::npos) << text;
  EXPECT_EQ(parse_model_config(text).network, config.network);
  std::string wrong = text;
  wrong.replace(wrong.find(":" + radius), 1 + radius.size(), ":7");
  EXPECT_EQ(error_of([&] { parse_model_config(wrong); }),
            "model config: receptive_radius=7 is not that of the network described");
}

}  // namespace
}  // namespace eps
