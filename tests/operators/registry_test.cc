// The registry of operators, and the defaults of the spectral interface.
#include "eps/operators/registry.h"

#include <gtest/gtest.h>

#include <iostream>

#include "eps/math/spectrum.h"
#include "eps/operators/task.h"
#include "tests/files.h"

namespace eps {
namespace {

// The registry stays broken, so the clash happens in a process of its own.
TEST(OperatorRegistryDeathTest, ANameThatIsTakenIsAnErrorOnUse) {
  const auto clash = [] {
    OperatorEntry other = operators().at("identity");
    other.summary = "another";
    const bool added = register_operator(other);
    std::cerr << error_of([] { operators(); }) << "; " << error_of([] { find_task("identity"); });
    std::_Exit(added ? 1 : 0);
  };
  const std::string message = "operator \"identity\" is registered twice";
  EXPECT_EXIT(clash(), testing::ExitedWithCode(0), message + "; " + message);
}

TEST(OperatorRegistry, RefusesImagesOfOtherChannels) {
  EXPECT_EQ(channels_of("bayer", 1), 3);
  EXPECT_EQ(channels_of("blur_gaussian | bayer", 1), 1);
  EXPECT_EQ(channels_of("grey + bayer", 1), 3);
  Rng rng(1);
  EXPECT_EQ(error_of([&] {
              make_operator("bayer", at::empty({1, 1, 8, 8}), rng);
            }),
            "bayer: images of 3 channels are wanted, got 1");
}

TEST(OperatorRegistry, KnowsSpecsByTheirFirstOperator) {
  EXPECT_TRUE(names_operator("grey"));
  EXPECT_TRUE(names_operator("grey | super_resolution:factor=2 + identity"));
  EXPECT_FALSE(names_operator("box_inpainting"));
}

// Operators that differ from image to image and from channel to channel, and f that does, too.
TEST(Spectral, TheDefaultDiagonalIsThatOfEveryOperator) {
  const Tensor level = at::tensor({0.5, 2.0}, at::kDouble).reshape({2, 1, 1, 1});
  const auto f = [&](const Tensor& e) { return 1 / (e + per_sample(level, e)); };
  for (const auto& [name, entry] : operators()) {
    if (entry.example.empty()) continue;
    SCOPED_TRACE(name);
    const Shape image{2, channels_of(name, 3), 8, 8};
    Rng rng(5, image[0]);
    const Tensor like = at::empty(image, at::kDouble);
    const Operator A = make_operator(entry.example, like, rng);
    if (!A->spectral()) continue;
    const Tensor slow = A->spectral()->Spectral::diagonal(like, f);
    EXPECT_EQ(slow.sizes(), at::IntArrayRef(image));
    for (const Tensor& fast :
         {A->spectral()->diagonal(like, f), A->spectral()->quick_diagonal(like, f)})
      EXPECT_LT((fast.expand(image) - slow).abs().max().item<double>(), 1e-10);
  }
}

// The trace of the prior's covariance is the sum of its power along all eigendirections.
TEST(Spectral, ThePriorPowerKeepsTheTotal) {
  const Tensor spectrum = Rng(3).uniform({8, 5}) + 0.1;
  const double mean = spectral_mean(spectrum, 8).item<double>();
  for (const auto& [name, entry] : operators()) {
    if (entry.example.empty()) continue;
    Rng rng(5);
    const Tensor like = at::empty({1, channels_of(name, 3), 8, 8}, at::kDouble);
    const Operator A = make_operator(entry.example, like, rng);
    if (!A->spectral()) continue;
    const EigenvalueMap power = A->spectral()->prior_power(spectrum, like);
    const Tensor along = A->spectral()->diagonal(
        like, [&](const Tensor& e) { return at::zeros_like(e) + power(e); });
    EXPECT_NEAR(along.expand_as(like).mean().item<double>(), mean, 1e-10) << name;
  }
}

TEST(Spectral, IsWantedByName) {
  Rng rng(1);
  const Operator A = make_operator("blur_gaussian:std=0.6,size=3 | inpaint_random:missing=0.5",
                                   at::empty({1, 1, 8, 8}, at::kDouble),
                                   rng);
  EXPECT_EQ(A->spectral(), nullptr);
  EXPECT_EQ(error_of([&] { spectral_of(*A, "ddrm:"); }),
            "ddrm: needs an operator whose A'A is diagonal in a fast basis; this one's is not");
}

}  // namespace
}  // namespace eps
