// Networks as denoisers of pictures of any size.
#include "eps/model/network_denoiser.h"

#include <gtest/gtest.h>

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

TEST(NetworkDenoiser, DerivativesGoThroughTheWholePicture) {
  const Checkpoint checkpoint = local_checkpoint("constant");
  const NetworkDenoiser tiled(checkpoint, 1);
  Query query = prior_query(waves({1, 3, 48, 48}).requires_grad_(), edm().at(scalar(0.7)));
  query.side = at::zeros({1, 6, 48, 48});
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
