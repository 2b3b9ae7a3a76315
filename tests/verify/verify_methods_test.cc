// The table of methods: what its rows say, and that its claims can fail.
#include "eps/verify/verify_methods.h"

#include <gtest/gtest.h>

#include <set>

#include "eps/methods/method.h"

namespace eps {
namespace {

MethodRow row(const std::string& method, bool exact, double mean_z, double covariance_z) {
  return {.prior = "gaussian",
          .operator_spec = "identity",
          .method = method,
          .samples = 100,
          .refusal = "",
          .mean_error = 0,
          .mean_floor = 0,
          .covariance_error = 0,
          .covariance_floor = 0,
          .mean_z = mean_z,
          .covariance_z = covariance_z,
          .evaluations = 1,
          .vjps = 0,
          .solves = 0,
          .may_refuse = false,
          .exact = exact};
}

TEST(VerifyMethods, ExactMethodsMustBeAtTheFloor) {
  EXPECT_TRUE(broken_claims({row("a", true, 1, -2)}).empty());
  EXPECT_EQ(broken_claims({row("a", true, 6, 0)}).size(), 1u);
  EXPECT_EQ(broken_claims({row("a", true, 0, -6)}).size(), 1u);
  EXPECT_EQ(broken_claims({row("a", true, NAN, 0)}).size(), 1u);
}

TEST(VerifyMethods, OthersMustShowTheirBiasSomewhere) {
  EXPECT_TRUE(broken_claims({row("b", false, 0, 0), row("b", false, 9, 0)}).empty());
  EXPECT_EQ(broken_claims({row("b", false, 1, 0), row("b", false, 0, 2)}).size(), 1u);
}

TEST(VerifyMethods, NoMethodMayFailWhereItApplies) {
  MethodRow failed = row("c", false, 9, 0);
  failed.refusal = "the samples are not finite";
  EXPECT_EQ(broken_claims({failed}).size(), 1u);
  failed.may_refuse = true;
  EXPECT_TRUE(broken_claims({failed}).empty());
}

// One operator, a quarter of the samples. Errors of an exact method are near the floor, which is
// what they are on average.
TEST(VerifyMethods, TheQuickTableKeepsItsClaims) {
  const auto rows = verify_methods(1, true, {});
  std::set<std::string> seen;
  for (const MethodRow& each : rows) {
    SCOPED_TRACE(each.prior + " " + each.method);
    seen.insert(each.method.substr(0, each.method.find(':')));
    EXPECT_EQ(each.refusal, "");
    if (!each.exact) continue;
    EXPECT_TRUE(each.at_floor()) << each.mean_z << " " << each.covariance_z;
    EXPECT_LT(each.mean_error, 3 * each.mean_floor);
    EXPECT_LT(each.covariance_error, 3 * each.covariance_floor);
  }
  // Every method that an exact prior can serve; those for other inputs need a network.
  for (const auto& [name, method] : methods()) {
    if (method.input == NetworkInput::prior) {
      EXPECT_TRUE(seen.count(name)) << name;
    }
  }
  EXPECT_TRUE(seen.count("eps"));
}

}  // namespace
}  // namespace eps
