// Degrading and restoring images: nothing may depend on the batch.
#include "eps/experiment/protocol.h"

#include <gtest/gtest.h>

#include "eps/io/array.h"
#include "eps/priors/mixture.h"
#include "tests/files.h"

namespace eps::experiment {
namespace {

Images images() {
  const Mixture prior = example_mixture({1, 4, 4}, 2, 3);
  Rng rng(5, 7);
  return {prior.sample(rng, 7)};
}

Tensor restored(int64_t batch, Cost* cost = nullptr) {
  const Mixture prior = example_mixture({1, 4, 4}, 2, 3);
  std::vector<Tensor> parts;
  const Cost all = draw_samples({.task = "inpaint_random:missing=0.5", .seed = 9, .batch = batch},
                                choose_method("eps:steps=4"),
                                prior,
                                images(),
                                at::kCPU,
                                3,
                                {},
                                [&](const Tensor& part) { parts.push_back(part); });
  if (cost != nullptr) *cost = all;
  return at::cat(parts).reshape({3, 7, 1, 4, 4});
}

TEST(Protocol, SamplesDoNotDependOnTheBatch) {
  const Tensor whole = restored(7);
  for (const int64_t batch : {1, 2, 5, 12, 21})
    EXPECT_LE((restored(batch) - whole).abs().max().item<double>(), 1e-12) << batch;
}

TEST(Protocol, SamplesOfAnImageDiffer) {
  const Tensor samples = restored(7);
  EXPECT_GT((samples[0] - samples[1]).abs().amin({1, 2, 3}).max().item<double>(), 0);
  for (int64_t k = 1; k < 3; ++k)
    EXPECT_TRUE(((samples[k] - samples[0]).abs().amax({1, 2, 3}) > 1e-3).all().item<bool>());
}

TEST(Protocol, CountsEverySample) {
  Cost cost;
  restored(2, &cost);
  EXPECT_EQ(cost.evaluations, 4 * 3 * 7);
}

TEST(Protocol, EveryImageHasItsOwnOperatorAndTheMeasurementIsIts) {
  const Images clean = images();
  const auto problems = make_problems(
      {.task = "inpaint_random:missing=0.5", .sigma_y = 0, .batch = 4}, clean, at::kCPU);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].y.size(0), 4);
  EXPECT_EQ(problems[1].y.size(0), 3);
  const Tensor mask = problems[0].A->format().parameters().at("mask");
  EXPECT_FALSE(at::equal(mask[0], mask[1]));
  EXPECT_TRUE(at::equal(problems[1].y, problems[1].A->apply(clean.x0.slice(0, 4, 7))));
}

TEST(Protocol, AFileMayHaveAnOperatorForEachImage) {
  const Folder folder;
  Rng rng(1);
  const Images clean = images();
  const Tensor masks = (rng.uniform({7, 4, 4}) < 0.5).to(at::kDouble);
  write_array(folder.file("masks.npy"), masks);
  for (const int64_t batch : {2, 7, 16}) {
    const Protocol protocol{
        .task = "inpaint_mask:file=" + folder.file("masks.npy"), .sigma_y = 0, .batch = batch};
    const auto problems = make_problems(protocol, clean, at::kCPU);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_TRUE(problems[0].y.equal(masks.unsqueeze(1) * clean.x0));
    EXPECT_TRUE(first_problem(protocol, clean, at::kCPU).y.equal(problems[0].y));
  }
  // One kernel for all images leaves the batch to the protocol, whatever else is drawn.
  write_array(folder.file("kernel.npy"), at::ones({2, 2}, at::kDouble) / 4);
  const std::string shared = "blur_kernel:file=" + folder.file("kernel.npy");
  for (const auto& spec : {shared, shared + " | inpaint_random:missing=0.5"})
    EXPECT_EQ(make_problems({.task = spec, .batch = 4}, clean, at::kCPU).size(), 2u) << spec;
  write_array(folder.file("masks.npy"), masks.slice(0, 0, 4));
  EXPECT_NE(error_of([&] {
              make_problems({.task = "inpaint_mask:file=" + folder.file("masks.npy"), .batch = 4},
                            clean,
                            at::kCPU);
            }).find("holds 4"),
            std::string::npos);
}

}  // namespace
}  // namespace eps::experiment
