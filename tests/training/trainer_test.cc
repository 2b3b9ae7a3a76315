// Training on the CPU: it learns, it is what the formulas say, and it can stop anywhere.
#include "eps/training/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/model/network_denoiser.h"
#include "eps/priors/stationary.h"
#include "tests/files.h"
#include "tests/training/training_session.h"
#include "tests/wave_network.h"

namespace eps::training {
namespace {

constexpr int64_t kSize = 16;

double difference(const Checkpoint& a, const Checkpoint& b) {
  const auto p = a.network.parameters(), q = b.network.parameters();
  double most = 0;
  for (size_t i = 0; i < p.size(); ++i)
    most = std::max(most, (p[i].tensor - q[i].tensor).abs().max().item<double>());
  return most;
}

// The loss on held-out images, all noise levels alike, falls by these factors in 320 steps. (The
// anisotropic preconditioning begins where the other arrives.)
TEST(Training, TheTinyPresetLearns) {
  struct Case {
    const char *input, *preconditioning;
    double factor;
  };
  for (const auto& [input, preconditioning, factor] :
       {Case{"prior", "edm", 1.25}, Case{"eps", "edm", 2}, Case{"eps", "anisotropic", 1.4}}) {
    const bool prior = std::string(input) == "prior";
    TrainingConfig config =
        tiny(input, prior ? std::vector<std::string>{} : std::vector<std::string>{"all"});
    config.batch = 16;
    config.learning_rate = 5e-3;
    config.preconditioning = preconditioning;
    Session session(config, synthetic(512));
    const Dataset fresh = read_dataset({"synthetic:size=16,count=64,seed=1"}, {});
    const BatchSource held_out(fresh, batch_options(config), at::kCPU);
    const auto loss = [&] {
      return validation_loss(session.trainer.average(), held_out, 64, 64, {}).all;
    };
    const double first = loss();
    session.steps(320);
    EXPECT_LT(loss(), first / factor) << input << " " << preconditioning << ": " << first;
  }
}

TEST(Training, ResumesToTheBit) {
  const Folder folder;
  TrainingConfig config = tiny("eps", {"random_inpainting", "motion_deblurring"});
  config.dropout = 0.1;
  config.sigma_y = "0.01..0.2";
  config.preconditioning = "anisotropic";
  Session whole(config, synthetic(64));
  whole.steps(12);
  Session before(config, synthetic(64));
  before.steps(5);
  write_safetensors(folder.file("state.safetensors"), before.trainer.state());
  const Safetensors state = read_safetensors(folder.file("state.safetensors"));
  Session after(config, synthetic(64));
  after.trainer.restore(state);
  after.steps(7);
  EXPECT_EQ(after.trainer.images_seen(), 12 * 8);
  const Safetensors wanted = whole.trainer.state(), got = after.trainer.state();
  ASSERT_EQ(wanted.tensors.size(), got.tensors.size());
  for (const auto& [name, tensor] : wanted.tensors)
    EXPECT_TRUE(identical(got.tensors.at(name), tensor)) << name;
  EXPECT_EQ(wanted.metadata, got.metadata);
  // And another seed does not.
  config.seed = 1;
  Session other(config, synthetic(64));
  other.steps(12);
  EXPECT_GT(difference(other.trainer.network(), whole.trainer.network()), 1e-3);
}

TEST(Training, MicroBatchesAddUp) {
  TrainingConfig config = tiny("eps", {"all"});
  Session whole(config, synthetic(64));
  whole.steps(5);
  config.micro_batch = 3;
  Session parts(config, synthetic(64));
  parts.steps(5);
  EXPECT_LT(difference(parts.trainer.network(), whole.trainer.network()), 1e-5);
}

// EDM's loss, written out for one batch from D itself.
TEST(Training, TheLossIsEdms) {
  const TrainingConfig config = tiny("eps", {"box_inpainting"});
  Session session(config, synthetic(64));
  session.steps(3);
  session.trainer.report();
  const Checkpoint model = session.trainer.network();
  const TrainingGroup batch = session.source.draw(session.trainer.images_seen(), 8).groups[0];
  const Tensor mean = denoise(model.network, {}, model.input, batch.query).detach();
  const Tensor sigma = batch.query.sigma;
  const Tensor weight = (sigma.square() + 0.25) / (sigma * 0.5).square();
  const double wanted = (weight * (mean - batch.x0).square()).mean().item<double>();
  session.steps(1);
  EXPECT_NEAR(session.trainer.report().loss.all / wanted, 1, 1e-4);
}

// Where answers are scaled down for some pixels, an error of the image weighs there as everywhere.
TEST(Training, TheLossIsThatOfTheImageOverItsNoise) {
  TrainingConfig config = tiny("eps", {"random_inpainting"});
  config.preconditioning = "anisotropic";
  config.prior_variance = "constant";
  config.prior_mean = "neighbours";
  Session session(config, synthetic(64));
  session.steps(3);
  session.trainer.report();
  const Checkpoint model = session.trainer.network();
  const TrainingGroup batch = session.source.draw(session.trainer.images_seen(), 8).groups[0];
  const Tensor mean = denoise(model.network, model.preconditioning, model.input, batch.query);
  const LinearOperator& A = *batch.query.A;
  const Tensor measured = A.adjoint(A.apply(at::ones_like(batch.x0)));
  const Tensor v = 1 / (1 / batch.query.sigma.square() + measured / batch.query.sigma_y.square());
  const Tensor weight = (v + 0.25) / (v * 0.25);
  const double wanted = (weight * (mean - batch.x0).square()).mean().item<double>();
  session.steps(1);
  EXPECT_NEAR(session.trainer.report().loss.all / wanted, 1, 1e-4);
}

// The other loss: the error of the image, over the error to expect of each image.
TEST(Training, TheLossOnTheImageIsRelativeToWhatCanBeKnown) {
  TrainingConfig config = tiny("eps", {"box_inpainting", "super_resolution_4x"});
  config.preconditioning = "anisotropic";
  config.loss = "image";
  Session session(config, synthetic(64));
  session.steps(3);
  session.trainer.report();
  const Checkpoint model = session.trainer.network();
  const TrainingBatch batch = session.source.draw(session.trainer.images_seen(), 8);
  const JoinedBatch all(model.preconditioning, model.input, batch);
  const Tensor mean = denoise(model, all).detach();
  const Tensor expected = all.mean_square_out();
  const double wanted = ((mean - all.x0()).square() / expected).mean().item<double>();
  session.steps(1);
  EXPECT_NEAR(session.trainer.report().loss.all / wanted, 1, 1e-4);
  // And it is learned.
  session.steps(60);
  session.trainer.report();
  session.steps(20);
  EXPECT_LT(session.trainer.report().loss.all, wanted * 0.8);
}

// One image that is not a number spoils its batch's gradient, not the weights.
TEST(Training, GradientsThatAreNotNumbersAreZero) {
  const TrainingConfig config = tiny("prior", {});
  Dataset data;
  data.images = at::full({8, 3, kSize, kSize}, std::nan(""));
  Session session(config, data);
  session.steps(3);
  EXPECT_TRUE(session.trainer.finite());
  EXPECT_FALSE(session.trainer.report().loss.finite);
}

// Images whose exact denoiser is known. The network is shown the pivot and nothing else, so what it
// knows of y it knows from there.
TEST(Training, LearnsTheExactPosteriorOfGaussianImages) {
  const Stationary prior(at::zeros({1, kSize, kSize}), natural_spectrum(kSize, kSize));
  const auto images = [&](uint64_t seed, int64_t count) {
    Dataset data;
    Rng rng(seed, count);
    data.images = prior.sample(rng, {count, 1, kSize, kSize}).to(at::kFloat);
    return data;
  };
  TrainingConfig config = tiny("pivot", {"inpaint_random:missing=0.3"});
  config.learning_rate = 5e-3;
  config.p_mean = 0;
  config.p_std = 0.5;
  const Dataset fresh = images(2, 64);
  for (const char* preconditioning : {"edm", "anisotropic"}) {
    config.preconditioning = preconditioning;
    Session session(config, images(1, 512));
    const BatchSource held_out(fresh, batch_options(config), at::kCPU);
    const TrainingGroup batch = held_out.draw(0, 64).groups[0];
    const auto distance = [](const Tensor& a, const Tensor& b) {
      return (a - b).square().mean().item<double>();
    };
    const Tensor exact = prior.mean(batch.query).to(at::kFloat);
    const auto excess = [&] {
      const Checkpoint model = session.trainer.average();
      return distance(denoise(model.network, model.preconditioning, model.input, batch.query),
                      exact);
    };
    const double before = excess();
    session.steps(400);
    const double after = excess();
    EXPECT_LT(after, before / 4) << preconditioning << ": " << before;

    // Were the pivot wired wrongly, x_t in its place, even the exact answer would be farther from
    // the truth than this network's is.
    Query blind{batch.query.x, batch.query.sigma};
    Rng noise(3, 64);
    blind.x = batch.x0 + batch.query.sigma * noise.normal(batch.x0.sizes().vec(), at::kFloat);
    EXPECT_LT(distance(exact, batch.x0) + after,
              distance(prior.mean(blind).to(at::kFloat), batch.x0) / 2)
        << preconditioning;
  }
}

TEST(Training, RefusesWhatDoesNotFit) {
  const Folder folder;
  const Dataset data = synthetic(8);
  EXPECT_EQ(error_of([] {
              TrainingConfig config = tuned_from("a.safetensors", "eps");
              config.preset = "tiny";
              resolved(config);
            }),
            "training: arch, preset, channels, levels, blocks, attention, norm and dropout belong "
            "to a network from scratch; this one is a.safetensors");
  const auto resolve = [](const std::function<void(TrainingConfig&)>& change) {
    TrainingConfig config;
    config.tasks = {"box_inpainting"};
    change(config);
    return error_of([&] { resolved(config); });
  };
  EXPECT_EQ(resolve([](auto& c) { c.tasks.clear(); }),
            "training: the input eps needs a task, such as random_inpainting");
  EXPECT_EQ(resolve([](auto& c) { c.input = "prior"; }), "training: the input prior takes no task");
  EXPECT_EQ(resolve([](auto& c) { c.learning_rate = -1; }),
            "training: learning_rate must be at least 0, got -1");
  EXPECT_EQ(resolve([](auto& c) { c.loss = "l1"; }),
            "training: loss must be one of network, image; got \"l1\"");
  EXPECT_EQ(resolve([](auto& c) { c.preset = "ffhq64", c.arch = "adm"; }),
            "training: the preset of arch=adm must be one of small, tiny, imagenet64; got "
            "\"ffhq64\"");
  EXPECT_EQ(error_of([] { parse_training_config(R"({"bach": 3})", "c.json"); }),
            "c.json: unknown field \"bach\" (did you mean \"batch\"?)");
  EXPECT_EQ(error_of([] { parse_training_config(R"({"batch": "3"})", "c.json"); }),
            "c.json: batch must be a whole number, got \"3\"");
  EXPECT_EQ(error_of([] { parse_training_config(R"({"batch": 8.7})", "c.json"); }),
            "c.json: batch must be a whole number, got 8.7");
  EXPECT_EQ(error_of([] { parse_training_config(R"({"batch": true})", "c.json"); }),
            "c.json: batch must be a whole number, got true");
  EXPECT_EQ(error_of([] { parse_training_config(R"({"batch": 8, "batch": 9})", "c.json"); }),
            "c.json: 'batch' appears twice");
  EXPECT_EQ(parse_training_config(R"({"images": 1e6})", "c.json").images, 1000000);

  TrainingConfig config = tiny("eps", {"box_inpainting"});
  Session session(config, data);
  write_checkpoint(folder.file("a.safetensors"), session.trainer.average());
  config.start = folder.file("a.safetensors");
  config.input = "pivot";
  EXPECT_EQ(error_of([&] { initial_network(config, data); }),
            config.start + ": a network with 3 side channels for the input eps; pivot has 0");
  config.input = "eps";
  const Dataset large = read_dataset({"synthetic:size=32,count=8"}, {});
  EXPECT_EQ(error_of([&] { initial_network(config, large); }),
            config.start + ": a network for 16 pixels a side; the data have 32");
  TrainingConfig changed = config;
  changed.batch = 4;
  EXPECT_EQ(error_of([&] { check_resumable(config, changed); }),
            "training: batch is 8 in the run and cannot become 4 when it is resumed");
}

TEST(Training, TheDefaultsOfAConfigAreThoseOfTheOptions) {
  const TrainerOptions options = trainer_options({}), defaults;
  EXPECT_EQ(options.batch, defaults.batch);
  EXPECT_EQ(options.micro_batch, defaults.micro_batch);
  EXPECT_EQ(options.learning_rate, defaults.learning_rate);
  EXPECT_EQ(options.rampup, defaults.rampup);
  EXPECT_EQ(options.decay, defaults.decay);
  EXPECT_EQ(options.adam.beta1, defaults.adam.beta1);
  EXPECT_EQ(options.adam.beta2, defaults.adam.beta2);
  EXPECT_EQ(options.adam.epsilon, defaults.adam.epsilon);
  EXPECT_EQ(options.ema_halflife, defaults.ema_halflife);
  EXPECT_EQ(options.ema_rampup, defaults.ema_rampup);
  EXPECT_EQ(options.loss_on_image, defaults.loss_on_image);
  EXPECT_EQ(options.precision, defaults.precision);
  EXPECT_EQ(options.loss_scaling, defaults.loss_scaling);
  EXPECT_EQ(options.graph, defaults.graph);
  const BatchOptions batch = batch_options({});
  EXPECT_EQ(batch.p_mean, BatchOptions{}.p_mean);
  EXPECT_EQ(batch.p_std, BatchOptions{}.p_std);
  EXPECT_EQ(batch.sigma_y.low, BatchOptions{}.sigma_y.low);
  EXPECT_EQ(batch.sigma_y.high, BatchOptions{}.sigma_y.high);
  EXPECT_EQ(batch.flip, BatchOptions{}.flip);
  EXPECT_EQ(batch.seed, BatchOptions{}.seed);
}

TEST(Training, ConfigsComeBackFromTheirText) {
  TrainingConfig config = tiny("palette", {"all"});
  config.p_mean = -0.4;
  EXPECT_EQ(to_json(parse_training_config(to_json(config), "text")), to_json(config));
}

}  // namespace
}  // namespace eps::training
