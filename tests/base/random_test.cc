// Random streams: known answers, independence of the batch, and the right moments.
#include "eps/base/random.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/files.h"

namespace eps {
namespace {

TEST(Random, PhiloxGivesThePublishedAnswers) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, ~uint64_t{0}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, AnImagesNumbersDoNotDependOnItsBatch) {
  Rng batch(7, 5);
  Rng alone(7, std::vector<uint64_t>{3});
  for (int draw = 0; draw < 3; ++draw) {
    const Tensor together = batch.normal({5, 3, 4, 5});
    EXPECT_TRUE(together[3].equal(alone.normal({1, 3, 4, 5})[0]));
  }
}

TEST(Random, SeedsImagesAndDrawsDiffer) {
  Rng rng(1, 2);
  const Tensor first = rng.normal({2, 8});
  EXPECT_FALSE(first[0].equal(first[1]));
  EXPECT_FALSE(first.equal(rng.normal({2, 8})));
  EXPECT_FALSE(first.equal(Rng(2, 2).normal({2, 8})));
  EXPECT_TRUE(first.equal(Rng(1, 2).normal({2, 8})));
}

TEST(Random, FloatNoiseIsTheRoundedDoubleNoise) {
  EXPECT_TRUE(Rng(1).normal({100}, at::kFloat).equal(Rng(1).normal({100}).to(at::kFloat)));
}

// The compiler refuses a switch in which two purposes share a number, or one is left out.
const char* name_of(Stream purpose) {
  switch (purpose) {
    case Stream::measurement_operator:
      return "measurement_operator";
    case Stream::measurement_noise:
      return "measurement_noise";
    case Stream::posterior_sample:
      return "posterior_sample";
    case Stream::training_noise:
      return "training_noise";
    case Stream::exact_images:
      return "exact_images";
    case Stream::colour_noise:
      return "colour_noise";
    case Stream::rank_ties:
      return "rank_ties";
    case Stream::training_order:
      return "training_order";
    case Stream::training_task:
      return "training_task";
    case Stream::training_operator:
      return "training_operator";
    case Stream::preview_sample:
      return "preview_sample";
    case Stream::training_crop:
      return "training_crop";
    case Stream::window:
      return "window";
    case Stream::rehearsal:
      return "rehearsal";
    case Stream::training_dropout:
      return "training_dropout";
    case Stream::bootstrap:
      return "bootstrap";
  }
  return nullptr;
}

TEST(Random, EveryPurposeHasASeedOfItsOwn) {
  std::map<uint64_t, std::string> seeds;
  size_t purposes = 0;
  for (uint32_t number = 0; number <= 0xffff; ++number) {
    const auto purpose = static_cast<Stream>(number);
    if (name_of(purpose) == nullptr) continue;
    ++purposes;
    for (const uint64_t index : {0, 1}) {
      const auto [other, is_new] = seeds.emplace(derive_seed(0, purpose, index), name_of(purpose));
      EXPECT_TRUE(is_new) << name_of(purpose) << " and " << other->second;
    }
  }
  EXPECT_EQ(seeds.size(), 2 * purposes);
  EXPECT_GE(purposes, 14u);
}

// A part of the images gets what it would get among all, also of a shorter draw.
TEST(Random, ASliceContinuesTheStreamsOfItsImages) {
  Rng all(5, {7, 3, 9, 4});
  all.uniform({4, 2});
  Rng part = all.slice(1, 3);
  EXPECT_TRUE(part.normal({2, 3}).equal(all.normal({4, 8}).slice(0, 1, 3).slice(1, 0, 3)));
  EXPECT_TRUE(part.uniform({2, 5}).equal(all.uniform({4, 5}).slice(0, 1, 3)));
  EXPECT_EQ(error_of([&] { all.slice(3, 5); }), "Rng: no images 3 to 5 of 4");
}

// Fixed seed; each bound is 5 standard errors, a false alarm of 6e-7 had the seed been random.
TEST(Random, NumbersHaveTheRightMoments) {
  const int64_t n = 200001;  // odd: the last pair is half used
  const double bound = 5 / std::sqrt(static_cast<double>(n));
  const Tensor z = Rng(3).normal({n});
  EXPECT_NEAR(z.mean().item<double>(), 0, bound);
  EXPECT_NEAR(z.square().mean().item<double>(), 1, bound * std::sqrt(2.0));
  EXPECT_NEAR(z.pow(4).mean().item<double>(), 3, bound * std::sqrt(96.0));
  EXPECT_NEAR((z.slice(0, 1) * z.slice(0, 0, n - 1)).mean().item<double>(), 0, bound);
  const Tensor u = Rng(4).uniform({n});
  EXPECT_NEAR(u.mean().item<double>(), 0.5, bound / std::sqrt(12.0));
  EXPECT_GE(u.min().item<double>(), 0);
  EXPECT_LT(u.max().item<double>(), 1);
}

}  // namespace
}  // namespace eps
