// What every method owes: the same bits for the same seed, no dependence on the batch, honest
// counts and clear refusals.
#include "eps/methods/method.h"

#include "eps/model/network_denoiser.h"
#include "eps/operators/factories.h"
#include "tests/files.h"
#include "tests/methods/method_testbed.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

// Answers every input, as a Gaussian of variance 0.25 would without a measurement.
class Shrink final : public Denoiser {
 public:
  Tensor mean(const Query& query) const override {
    return query.x * (0.25 / (0.25 + per_sample(query.sigma, query.x).square()));
  }
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
    return method;
  }
};

// Every method with few steps, so that all can be run.
std::string short_spec(const std::string& name) {
  static const std::map<std::string, std::string> smaller = {{"daps", ",ode_steps=2,mcmc_steps=3"},
                                                             {"repaint", ",jump=2,resamples=2"}};
  const auto found = smaller.find(name);
  if (!choose_method(name).options.has("steps")) return name;
  return name + ":steps=5" + (found == smaller.end() ? "" : found->second);
}

Tensor clean_images(int64_t count) { return 0.5 * Rng(1, count).normal({count, 1, 8, 8}); }

// The problems of the images [begin, end), each with its own mask and noise.
Problem problems(int64_t begin, int64_t end, at::Device device) {
  std::vector<uint64_t> numbers;
  for (int64_t i = begin; i < end; ++i) numbers.push_back(static_cast<uint64_t>(i));
  const Tensor x0 = clean_images(8).slice(0, begin, end).to(device);
  Rng for_operator(2, numbers), for_noise(3, numbers);
  return observe(
      make_operator("inpaint_random:missing=0.5", x0, for_operator), x0, scalar(0.1), for_noise);
}

Tensor samples_of(const std::string& spec,
                  int64_t begin,
                  int64_t end,
                  int64_t vjp_batch = 0,
                  at::Device device = at::kCPU) {
  std::vector<uint64_t> numbers;
  for (int64_t i = begin; i < end; ++i) numbers.push_back(static_cast<uint64_t>(i));
  Rng rng(4, numbers);
  return sample_posterior(choose_method(spec),
                          Shrink(),
                          problems(begin, end, device),
                          {end - begin, 1, 8, 8},
                          rng,
                          {.vjp_batch = vjp_batch})
      .images;
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, GivesTheSameBitsForTheSameSeed) {
  const std::string spec = short_spec(GetParam());
  EXPECT_TRUE(at::equal(samples_of(spec, 0, 4), samples_of(spec, 0, 4)));
}

TEST_P(EveryMethod, GivesEightImagesWhatItGivesEachAlone) {
  const std::string spec = short_spec(GetParam());
  std::vector<Tensor> alone;
  for (int64_t i = 0; i < 8; ++i) alone.push_back(samples_of(spec, i, i + 1));
  expect_close(samples_of(spec, 0, 8), at::cat(alone), 1e-10);
}

TEST_P(EveryMethod, GivesTheSameWhenDerivativesAreTakenInParts) {
  const std::string spec = short_spec(GetParam());
  expect_close(samples_of(spec, 0, 8, 3), samples_of(spec, 0, 8), 1e-12);
}

// Memory is no part of the cost.
TEST(MethodCost, DoesNotDependOnTheParts) {
  const MethodTestbed bed("identity");
  for (const int64_t vjp_batch : {0, 1, 2}) {
    Rng rng(1, 3);
    const Samples samples = sample_posterior(choose_method("mmps:steps=2,iterations=3"),
                                             bed.prior,
                                             bed.problem,
                                             bed.shape,
                                             rng,
                                             {.vjp_batch = vjp_batch});
    EXPECT_EQ(samples.cost.evaluations, 3 * 2);
    EXPECT_EQ(samples.cost.vjps, 3 * 2 * 4);
  }
}

// Random numbers are the same everywhere, so only rounding may differ.
TEST_P(EveryMethod, GivesTheSameOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
  const std::string spec = short_spec(GetParam());
  expect_close(samples_of(spec, 0, 4, 0, at::kCUDA).cpu(), samples_of(spec, 0, 4), 1e-7);
}

TEST_P(EveryMethod, HasDefaultsForKindsThatOperatorsHave) {
  const Method& method = methods().at(GetParam());
  const auto& kinds = operator_kinds();
  for (const auto& [kind, values] : method.kinds)
    EXPECT_TRUE(std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) << kind;
  for (const auto& [name, task] : tasks()) EXPECT_NO_THROW(choose_method(GetParam(), name)) << name;
  EXPECT_FALSE(method.summary.empty());
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, method] : methods()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod, testing::ValuesIn(names()), [](const auto& test) {
  return test.param;
});

// Tables imagenet and baseline-configs. DAPS is 100 levels of 5 there, and 20 of 5 in its runtime
// table.
TEST(MethodCost, IsThePapersNumberOfEvaluations) {
  const std::map<std::string, int64_t> evaluations = {{"dps", 250},
                                                      {"daps", 500},
                                                      {"daps:steps=20", 100},
                                                      {"ddnm", 100},
                                                      {"pigdm", 100},
                                                      {"mpgd", 100},
                                                      {"palette:steps=100", 100},
                                                      {"eps:steps=100", 100},
                                                      {"eps", 20},
                                                      {"eps:steps=1", 1},
                                                      {"flow_dps:steps=300", 300}};
  for (const auto& [spec, count] : evaluations)
    EXPECT_EQ(measured_cost(choose_method(spec)).evaluations, count) << spec;
  EXPECT_EQ(measured_cost(choose_method("dps")).vjps, 250);
  EXPECT_EQ(measured_cost(choose_method("pigdm")).vjps, 100);
  EXPECT_EQ(measured_cost(choose_method("mpgd")).vjps, 0);
  EXPECT_EQ(measured_cost(choose_method("eps")).solves, 20);
}

TEST(MethodErrors, NameTheThingAndWhatIsWanted) {
  EXPECT_NE(error_of([] { choose_method("dpz"); }).find("did you mean \"dps\"?"),
            std::string::npos);
  EXPECT_NE(error_of([] { choose_method("dps:scal=1"); }).find("unknown field \"scal\""),
            std::string::npos);
  EXPECT_EQ(error_of([] { choose_method("dps:scale=-1"); }), "dps: scale=-1 is outside [0, inf)");
  EXPECT_EQ(error_of([] { choose_method("eps", "", -1).with("steps", 0); }),
            "eps: steps=0 is outside [1, inf)");
  EXPECT_EQ(error_of([] { choose_method("eps:solver=eulr"); }),
            "eps: solver=eulr is none of euler, heun, edm_churn, ddim_renoise, ddim_ancestral, "
            "dpmpp_2m, ipndm, unipc (did you mean \"euler\"?)");
  EXPECT_EQ(error_of([] { choose_method("eps:schedule=vp"); }),
            "eps: schedule=vp is none of edm, flow, vp_cosine, vp_linear");
}

// A choice is complete: nothing about a value is left to find out while a method runs.
TEST_P(EveryMethod, RefusesWrongValuesWhenItIsChosen) {
  for (const Field& field : methods().at(GetParam()).fields) {
    ASSERT_NE(field.type, Field::Type::text) << field.name;
    const std::string spec = GetParam() + ":" + field.name + "=";
    EXPECT_NE(error_of([&] { choose_method(spec + "nonsense"); }), "") << spec;
    EXPECT_NE(error_of([&] { choose_method(spec + "nan"); }), "") << spec;
    EXPECT_NO_THROW(choose_method(spec + field.value)) << spec;
  }
}

TEST(MethodChoice, TakesNumbersFromCodeToTheLastBit) {
  const double sigma_min = 0.0123456789 / 5;
  const MethodChoice choice = choose_method("eps", "", 7).with("sigma_min", sigma_min);
  EXPECT_EQ(choice.options.real("sigma_min"), sigma_min);
  EXPECT_EQ(choice.options.integer("steps"), 7);
  EXPECT_EQ(choice.with("solver", "heun").options.text("solver"), "heun");
  EXPECT_EQ(error_of([&] { choice.with("sigma_min", -1); }),
            "eps: sigma_min=-1 is outside (0, inf)");
  EXPECT_NE(error_of([&] { choice.with("sigma", 1); }).find("unknown field \"sigma\""),
            std::string::npos);
}

TEST(MethodErrors, RefuseOptionsThatWouldDoNothing) {
  EXPECT_NE(
      error_of([] { samples_of("eps:eta=0.5", 0, 1); }).find("eta: the solver dpmpp_2m takes no"),
      std::string::npos);
  EXPECT_NE(error_of([] {
              samples_of("eps:churn=5", 0, 1);
            }).find("churn: the solver dpmpp_2m takes no churn"),
            std::string::npos);
}

TEST(MethodErrors, RefuseProblemsThatDoNotFitTheSamples) {
  const MethodTestbed bed("identity");
  const auto sample = [&](Problem problem, const Shape& shape) {
    Rng rng(1, shape[0]);
    sample_posterior(choose_method("ddnm:steps=1"), bed.prior, problem, shape, rng);
  };
  EXPECT_NE(error_of([&] {
              sample(bed.problem, {2, 1, 4, 4});
            }).find("3 measurements for samples of 2 x 1 x 4 x 4"),
            std::string::npos);
  Problem labelled = bed.problem;
  labelled.labels = at::zeros({2, 5});
  EXPECT_NE(error_of([&] {
              sample(labelled, {3, 1, 4, 4});
            }).find("2 labels for samples of"),
            std::string::npos);
  Problem strange = bed.problem;
  strange.sigma_y = scalar(NAN);
  EXPECT_NE(error_of([&] {
              sample(strange, {3, 1, 4, 4});
            }).find("sigma_y must be finite"),
            std::string::npos);
}

TEST(MethodErrors, RefuseAPriorThatCannotAnswer) {
  const MethodTestbed bed("identity");
  EXPECT_NE(error_of([&] { bed.run("palette"); }).find("needs a denoiser for the input palette"),
            std::string::npos);
}

TEST(MethodErrors, RefuseAnOperatorWithoutAFilterWhereOneIsNeeded) {
  const MethodTestbed bed("blur_gaussian:std=0.6,size=3 | inpaint_random:missing=0.5");
  for (const std::string spec : {"ddrm", "ddnm:rule=singular", "equivalent_time"})
    EXPECT_NE(error_of([&] { bed.run(spec); }).find("diagonal in a fast basis"), std::string::npos)
        << spec;
  EXPECT_NE(error_of([&] { bed.run("repaint"); }).find("keeps or drops pixels"), std::string::npos);
  EXPECT_NO_THROW(bed.run("ddnm:steps=2"));
}

// y of batch 1 stands for many samples of one posterior, also where a network is shown y; and one
// that is shown more than eps asks for serves eps, too.
TEST(Networks, DrawManySamplesOfOnePosterior) {
  for (const NetworkInput& input : {NetworkInput::eps, NetworkInput::eps_precision}) {
    nets::UNetConfig wide = small_ncsnpp();
    wide.in_channels = input.channels(wide.img_channels);
    const NetworkDenoiser denoiser({.network = wave_network(wide), .input = input});
    Rng one(6), many(7, 3);
    const Problem problem =
        observe(average_pool(2), 0.3 * one.normal({1, 3, 8, 8}), scalar(0.1), one);
    const Samples samples =
        sample_posterior(choose_method("eps:steps=2"), denoiser, problem, {3, 3, 8, 8}, many);
    Rng alone(7, std::vector<uint64_t>{2});
    const Samples last =
        sample_posterior(choose_method("eps:steps=2"), denoiser, problem, {1, 3, 8, 8}, alone);
    expect_close(samples.images.slice(0, 2, 3), last.images, 1e-5);
  }
}

// <v, D(x + h u) - D(x - h u)> / 2h = <J'v, u>, through a network.
TEST(Linearisation, IsTheTransposedJacobianOfANetwork) {
  const Checkpoint model{.network = wave_network(small_ncsnpp())};
  const NetworkDenoiser denoiser(model);
  const int64_t side = model.network.config().img_resolution;
  const Shape shape{2, model.network.config().img_channels, side, side};
  Rng rng(5, 2);
  const Tensor x = rng.normal(shape), u = rng.normal(shape), v = rng.normal(shape);
  Oracle oracle(denoiser, {identity(), x});
  const c10::NoGradGuard no_gradients;
  const Linearisation D = oracle.linearise(x, scalar(0.7));
  expect_close(D.mean(), oracle.denoise(x, scalar(0.7)), 1e-5);  // by kernels of their own
  const double h = 1e-2;
  const Tensor change =
      oracle.denoise(x + h * u, scalar(0.7)) - oracle.denoise(x - h * u, scalar(0.7));
  const double expected = (v * change).sum().item<double>() / (2 * h);
  const double actual = (D.vjp(v) * u).sum().item<double>();
  EXPECT_NEAR(actual, expected, 1e-2 * std::abs(expected) + 1e-3);
  EXPECT_EQ(oracle.cost().vjps, 2);
  EXPECT_EQ(oracle.cost().evaluations, 2 * 4);
}

}  // namespace
}  // namespace eps
