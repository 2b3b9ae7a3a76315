// eps metrics, as a user calls it: what it writes, and what it says of wrong input.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/base/random.h"
#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/io/safetensors.h"
#include "tests/program.h"
#include "tests/shared.h"

namespace eps {
namespace {

using nlohmann::json;

class MetricsVerb : public testing::Test {
 protected:
  MetricsVerb() {
    write(truth_, truth());
    write(samples_, (truth() + 0.1 * Rng(2).normal({3, 4, 3, 16, 16})).clamp(-1, 1));
  }
  static Tensor truth() { return Rng(1, 4).uniform({4, 3, 16, 16}) * 2 - 1; }
  static void write(const std::string& path, const Tensor& array) {
    write_npy(path, array.to(at::kFloat));
  }
  Outcome metrics(const std::string& rest = "") const {
    return run_program(EPS_PROGRAM,
                       "metrics --threads 1 --device cpu --samples " + samples_ + " --truth " +
                           truth_ + " " + rest);
  }
  void refused(const std::string& rest, const std::string& words) const {
    const Outcome outcome = metrics("--json " + json_ + " " + rest);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(json_));
  }

  const Folder folder_;
  const std::string samples_ = folder_.file("samples.npy"), truth_ = folder_.file("truth.npy"),
                    json_ = folder_.file("metrics.json");
};

TEST_F(MetricsVerb, WritesValuesWithStandardErrorsAndSaysWhatIsAbsent) {
  const Outcome outcome = metrics("--json " + json_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const json all = json::parse(get_bytes(json_));
  EXPECT_EQ(all["samples"], 3);
  EXPECT_EQ(all["images"], 4);
  EXPECT_NEAR(all["metrics"]["psnr"]["value"], 26, 1);
  EXPECT_GT(all["metrics"]["psnr"]["se"], 0);
  EXPECT_GT(all["metrics"]["ssim"]["value"], 0.9);
  EXPECT_EQ(all["absent"]["lpips"], "needs LPIPS weights");
  EXPECT_FALSE(all["metrics"].contains("lpips"));
  EXPECT_EQ(all["ranks"].size(), 4u);
  EXPECT_NE(outcome.output.find("lpips_vgg: needs LPIPS weights (--lpips FILE)"), std::string::npos)
      << outcome.output;
}

TEST_F(MetricsVerb, ConsistencyNeedsTheMeasurementAndHasChiSquareOne) {
  const std::string y = folder_.file("y.npy");
  write(y, truth() + 0.1 * Rng(3, 4).normal({4, 3, 16, 16}));
  write(samples_, truth().unsqueeze(0));
  const std::string stated = "--operator identity --sigma-y 0.1 --measurement " + y;
  const Outcome outcome = metrics(stated + " --json " + json_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const json chi2 = json::parse(get_bytes(json_))["metrics"]["chi2"];
  EXPECT_NEAR(chi2["value"], 1, 5 * std::sqrt(2.0 / (4 * 768)));
  std::filesystem::remove(json_);
  refused("--operator inpaint_random --sigma-y 0.1 --measurement " + y,
          "is drawn at random; name the file of the operator that made the measurement");
  refused("--operator identity", "chi2 needs all of --measurement, --operator and a --sigma-y");
  refused("--operator super_resolution:factor=2 --sigma-y 0.1 --measurement " + y,
          "the operator measures 4 x 3 x 8 x 8, got 4 x 3 x 16 x 16");
}

TEST_F(MetricsVerb, SaysWhatIsWrong) {
  refused("--metrics psnrr", "psnrr");
  refused("--metrics lpips", "metric lpips: needs LPIPS weights (--lpips FILE)");
  refused("--lpips " + truth_, "truth.npy");
  write(truth_, truth().slice(0, 0, 3));
  refused("", "samples are S x N x C x H x W with the truth's 3 x 3 x 16 x 16 behind S, got");
  write(truth_, truth());
  write(samples_, 255 * truth().unsqueeze(0).abs());
  refused("", "images are wanted in [-1, 1], found values from");
  EXPECT_EQ(metrics("--clip").status, 0);
  write(samples_, truth().unsqueeze(0) / 0);
  refused("--clip", "samples.npy");
  write(samples_, truth().unsqueeze(0));
  refused("--metrics crps_fair", "metric crps_fair: needs two samples or more");
  EXPECT_EQ(metrics().status, 0);
  for (const auto& [path, words] :
       {std::pair{"none/x.json", "there is no folder"}, {"", "folder"}}) {
    const Outcome outcome = metrics("--json " + folder_.file(path));
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
  }
}

TEST_F(MetricsVerb, AgreesWithReferenceCode) {
  const std::string reference = shared_file("reference/metrics.safetensors"),
                    alex = shared_file("weights/lpips-alex.safetensors"),
                    inception = shared_file("weights/inception-2015-12-05-to-mixed7a.safetensors");
  if (reference.empty() || alex.empty() || inception.empty()) GTEST_SKIP() << "no reference files";
  const auto tensors = read_safetensors(reference).tensors;
  write(truth_, from_uint8(tensors.at("a")));
  write(samples_, from_uint8(tensors.at("b")).unsqueeze(0));
  const Outcome outcome =
      metrics("--lpips " + alex + " --inception " + inception + " --json " + json_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const json all = json::parse(get_bytes(json_))["metrics"];
  const auto mean = [&](const char* name) {
    return tensors.at(name).to(at::kDouble).mean().item<double>();
  };
  EXPECT_NEAR(all["psnr"]["value"], mean("psnr"), 1e-6);
  EXPECT_NEAR(all["ssim"]["value"], mean("ssim_valid"), 1e-6);
  EXPECT_NEAR(all["lpips"]["value"], mean("lpips_alex"), 1e-4);
  // The distance of the reference's own features.
  const Tensor a = tensors.at("inception_768_a").to(at::kDouble),
               b = tensors.at("inception_768_b").to(at::kDouble);
  const double energy = (a - b).norm(2, 1).mean().item<double>();
  EXPECT_NEAR(all["energy_score_768"]["value"], energy, 1e-3 * energy);
  EXPECT_TRUE(all.contains("fid_768") && all.contains("fid_1280"));
}

}  // namespace
}  // namespace eps
