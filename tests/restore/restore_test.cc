// A restoration from a file to its report by the library alone, against what the program writes.
#include "eps/restore/restore.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/model/network_denoiser.h"
#include "tests/program.h"
#include "tests/small_checkpoints.h"

namespace eps {
namespace {

// A network for 3 x 8 x 8 images that has learnt nothing, and a measurement for it.
class RestoreMeasurement : public testing::Test {
 protected:
  RestoreMeasurement() {
    write_small_eps(file_,
                    {.tasks = {"inpaint_random:missing=0.1..0.7", "blur_motion:length=3"},
                     .sigma_y = "0.01..0.2"});
    write_png(picture_, to_uint8((0.3 * Rng(1).normal({3, 8, 8})).clamp(-1, 1)));
    write_png(mask_, 255 * (Rng(2).uniform({8, 8}) < 0.9).to(at::kByte));
  }
  Checkpoint network() const { return read_checkpoint(file_); }
  RestorationRequest masked() const {
    return {.input = picture_,
            .operator_options = {.mask = mask_},
            .network = file_,
            .steps = 2,
            .options = {.samples = 2, .seed = 3}};
  }

  const Folder folder_;
  const std::string file_ = folder_.file("eps.safetensors"), picture_ = folder_.file("picture.png"),
                    mask_ = folder_.file("mask.png");
};

TEST_F(RestoreMeasurement, IsWhatTheProgramWrites) {
  const RestorationResult result = restore_measurement(masked(), network());
  const std::string out = folder_.file("out");
  const Outcome outcome =
      run_program(EPS_PROGRAM,
                  "restore " + picture_ + " --mask " + mask_ + " --model " + file_ +
                      " --steps 2 --samples 2 --seed 3 --device cpu " + "--threads 1 --out " + out);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const auto expect_written = [&](const std::string& name, const Tensor& values) {
    EXPECT_TRUE(identical(read_npy(out + "/" + name), values.to(at::kFloat))) << name;
  };
  const Restoration& r = result.restoration;
  expect_written("samples.npy", r.samples);
  expect_written("mean.npy", r.mean);
  expect_written("deviation.npy", r.deviation);
  expect_written("interval.npy", at::stack({r.low, r.high}));
  expect_written("measurement.npy", result.measurement.problem.y[0]);
  auto told = nlohmann::json::parse(to_json(result.report)),
       written = nlohmann::json::parse(get_bytes(out + "/restore.json"));
  told.erase("seconds");
  written.erase("seconds");
  EXPECT_EQ(told, written);
  EXPECT_TRUE(written["noise"]["estimated"].get<bool>());
}

TEST_F(RestoreMeasurement, ReportsWhatItDid) {
  RestorationRequest request = masked();
  request.simulate = true;
  request.sigma_y = 0.1;
  const RestorationResult result = restore_measurement(request, network());
  const RestorationReport& report = result.report;
  EXPECT_EQ(report.input, picture_);
  EXPECT_EQ(report.operator_spec, "inpaint_mask:file=" + mask_);
  EXPECT_EQ(report.sigma_y, 0.1);
  EXPECT_FALSE(report.noise_estimated);
  EXPECT_EQ(report.method, "eps");
  EXPECT_EQ(report.samples, 2);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.seed, 3u);
  EXPECT_EQ(report.evaluations_per_sample, 2);
  EXPECT_EQ(report.interval, "student_t");
  const Tensor observed = read_image(mask_) == 255;
  EXPECT_EQ(report.measurements, 3 * observed.sum().item<int64_t>());
  EXPECT_EQ(report.chi2, result.restoration.chi2);
  EXPECT_EQ(report.fits(), misfit_words(report.chi2, report.measurements, false).empty());
  // 10 log10(4 / mean square error), of images in [-1, 1].
  const Tensor truth = from_uint8(read_image(picture_)).to(at::kDouble);
  const double error = (result.restoration.mean - truth).square().mean().item<double>();
  ASSERT_TRUE(report.psnr_of_mean && report.psnr_of_samples);
  EXPECT_NEAR(*report.psnr_of_mean, 10 * std::log10(4 / error), 1e-9);
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_FALSE(RestorationReport().noise_estimated);
  EXPECT_EQ(RestorationReport().sigma_y, 0);
}

TEST_F(RestoreMeasurement, InMemoryIsThatOfTheFile) {
  const Checkpoint model = network();
  const RestorationRequest request = masked();
  const OperatorChoice chosen = choose_operator(request.operator_options, 8);
  const Measurement measurement = read_measurement(picture_, chosen, shape_of(model, file_));
  const RestorationResult memory = restore_measurement(measurement, chosen, request, model),
                          file = restore_measurement(request, model);
  EXPECT_TRUE(identical(memory.restoration.samples, file.restoration.samples));
  EXPECT_EQ(memory.report.sigma_y, file.report.sigma_y);
}

// A mask in a file is decoded as often as its operator is drawn.
TEST_F(RestoreMeasurement, DrawsTheOperatorOnce) {
  OperatorChoice chosen = choose_operator({.mask = mask_}, 8);
  int draws = 0;
  chosen.draw = [&draws, draw = chosen.draw](const Tensor& like, Rng& rng) {
    ++draws;
    return draw(like, rng);
  };
  const NetworkShape shape{.name = "small", .resolution = 8, .channels = 3};
  read_measurement(picture_, chosen, shape);
  EXPECT_EQ(draws, 1);
  simulate_measurement(picture_, chosen, 0.1, {}, 0, shape);
  EXPECT_EQ(draws, 2);
}

TEST_F(RestoreMeasurement, ListsItsWarningsAndTellsThemAtOnce) {
  const std::string kernel = folder_.file("kernel.npy");
  write_npy(kernel, at::full({3, 3}, 2, at::kFloat));
  std::vector<std::string> told;
  const RestorationRequest request{
      .input = picture_,
      .operator_options = {.kernel = kernel, .border = "circular"},
      .sigma_y = 0.5,
      .network = "small",
      .steps = 1,
      .options = {.samples = 1},
      .on_warning = [&](const std::string& warning) { told.push_back(warning); }};
  const RestorationResult result = restore_measurement(request, network());
  EXPECT_EQ(
      result.warnings,
      (std::vector<std::string>{
          "the kernel of blur_kernel:file=" + kernel + ",border=circular has the sum 18, not 1",
          "small was trained for measurement noise of 0.01..0.2, not 0.5"}));
  EXPECT_EQ(told, result.warnings);
}

TEST_F(RestoreMeasurement, CountsItsEvaluationsByStage) {
  std::vector<std::pair<std::string, int64_t>> stages;
  std::vector<int64_t> counts;
  RestorationRequest request = masked();
  request.on_stage = [&](const std::string& name, int64_t total) {
    stages.emplace_back(name, total);
    counts.push_back(0);
  };
  request.options.on_evaluation = [&](int64_t images) { counts.back() += images; };
  restore_measurement(request, network());
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].first, "evaluations for the noise");
  EXPECT_GT(counts[0], 0);
  EXPECT_LE(counts[0], stages[0].second);
  EXPECT_EQ(stages[1].first, "evaluations");
  EXPECT_EQ(counts[1], stages[1].second);
  // A network that has learnt nothing leaves structure in the residual.
  EXPECT_EQ(stages[2].first, "evaluations for a rehearsal");
  EXPECT_EQ(counts[2], stages[2].second);
}

// A method for priors restores with a prior, by its values for the kind of the operator.
TEST_F(RestoreMeasurement, TakesAMethodForAnotherNetwork) {
  write_small_prior(file_);
  const Checkpoint prior = network();
  RestorationRequest request = masked();
  request.method = "dps:sigma_min=0.01";
  request.sigma_y = 0.1;
  const RestorationResult result = restore_measurement(request, prior);
  EXPECT_EQ(result.report.method, "dps:sigma_min=0.01");
  EXPECT_EQ(result.report.steps, 2);
  EXPECT_EQ(result.report.evaluations_per_sample, 2);
  const auto direct = [&](const std::string& method) {
    Problem problem = result.measurement.problem;
    problem.sigma_y = scalar(0.1);
    RestorationOptions options = request.options;
    options.channels = 3;
    return restore(choose_method(method), NetworkDenoiser(prior), problem, options).samples;
  };
  EXPECT_TRUE(identical(result.restoration.samples, direct("dps:sigma_min=0.01,steps=2,scale=5")));
  request.operator_options = {.gaussian = "0.7", .border = "circular"};
  request.method = "dps";
  request.steps = 0;
  const RestorationResult blurred = restore_measurement(request, prior);
  EXPECT_EQ(blurred.report.steps, 250);
  request.method = "dps:scale=1.5,steps=250";
  EXPECT_TRUE(identical(blurred.restoration.samples,
                        restore_measurement(request, prior).restoration.samples));
}

// A network of the posterior is its own prior; what the method approximates is not the posterior.
TEST_F(RestoreMeasurement, TakesAMethodForPriorsWithANetworkOfThePosterior) {
  RestorationRequest request = masked();
  request.network = "it";
  request.method = "pigdm";
  const RestorationResult result = restore_measurement(request, network());
  EXPECT_TRUE(result.report.approximate);
  EXPECT_FALSE(result.report.kernel_trial);
  // Its own answers to the measurement estimate the noise.
  EXPECT_TRUE(result.report.noise_estimated);
  request.method = "eps";
  EXPECT_EQ(result.report.sigma_y, restore_measurement(request, network()).report.sigma_y);
  EXPECT_EQ(
      result.warnings,
      (std::vector<std::string>{
          "it was trained with at most 70% of the pixels missing; as a prior it is asked with all "
          "of them missing",
          "pigdm approximates the posterior: chi2 and the intervals have its own error"}));
  // Neither the blur nor the noise is shown to the network.
  request = {.input = picture_,
             .operator_options = {.gaussian = "0.7", .border = "circular"},
             .sigma_y = 0.5,
             .network = "it",
             .method = "ddrm:steps=2",
             .options = {.samples = 1}};
  EXPECT_EQ(restore_measurement(request, network()).warnings.size(), 2u);
}

TEST_F(RestoreMeasurement, RefusesAMethodThatTheNetworkDoesNotServe) {
  RestorationRequest request = masked();
  request.network = "it";
  request.method = "palette";
  EXPECT_EQ(error_of([&] { restore_measurement(request, network()); }),
            "it: a network for the input eps; the method palette needs one for the input palette");
  request.method = "pigdn";
  EXPECT_NE(error_of([&] { restore_measurement(request, network()); }).find("\"pigdm\"?"),
            std::string::npos);
  write_small_prior(file_);
  request.method = "eps";
  EXPECT_EQ(error_of([&] { restore_measurement(request, network()); }),
            "it: a network for the input prior; the method eps needs one for the input eps");
  request.method = "pigdm:steps=2";
  EXPECT_EQ(error_of([&] { restore_measurement(request, network()); }),
            "steps 2: pigdm:steps=2 sets steps already");
  request.steps = 0;
  EXPECT_EQ(
      error_of([&] { restore_measurement(request, network()); }),
      "pigdm:steps=2: the noise of the measurement must be stated; only a network trained for "
      "the posterior estimates it");
}

// Messages of the library name things, not flags of the program.
TEST_F(RestoreMeasurement, RefusesInWordsOfItsOwn) {
  const Checkpoint model = network();
  const auto error = [&](const OperatorOptions& operator_options) {
    return error_of([&] {
      restore_measurement({.input = picture_, .operator_options = operator_options, .sigma_y = 0.1},
                          model);
    });
  };
  EXPECT_NE(
      error({}).find("One of mask, kernel, motion, gaussian, disk, downscale, bayer, "
                     "operator and denoise (of a picture that is only noisy) is wanted, got none"),
      std::string::npos);
  EXPECT_NE(error({.mask = mask_, .gaussian = "1"}).find("got gaussian and mask"),
            std::string::npos);
  EXPECT_NE(error({.motion = "3"}).find("motion 3: LENGTH,ANGLE is wanted"), std::string::npos);
  EXPECT_NE(error({.spec = "inpaint_random"}).find("is drawn at random"), std::string::npos);
  for (const double sigma_y : {0.0, -1.0, std::nan("")})
    EXPECT_NE(error_of([&] {
                restore_measurement(
                    {.input = picture_, .operator_options = {.mask = mask_}, .sigma_y = sigma_y},
                    model);
              }).find("sigma_y must be > 0"),
              std::string::npos);
  RestorationRequest none = masked();
  none.options.samples = -1;
  EXPECT_EQ(error_of([&] { restore_measurement(none, model); }),
            "restore: samples must be at least 1, got -1");
  write_small_prior(file_);
  EXPECT_EQ(
      error_of([&] { check_restores(network(), "it"); }),
      "it is a prior; a network trained for the posterior is wanted, or a method for this one");
}

}  // namespace
}  // namespace eps
