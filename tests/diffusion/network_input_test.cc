// Names of what networks see, and which network serves which method.
#include "eps/diffusion/network_input.h"

#include <gtest/gtest.h>

#include "tests/files.h"

namespace eps {
namespace {

TEST(NetworkInput, HasANameThatGivesItBack) {
  for (const auto& [name, input] : input_presets()) {
    EXPECT_EQ(parse_input(name), input);
    EXPECT_EQ(to_string(input), name);
  }
  for (const char* name : {"pivot+y+deviation", "pivot+y+deviation+skip", "state+precision+y"})
    EXPECT_EQ(to_string(parse_input(name)), name);
  const NetworkInput wide{Geometry::pivot, {Channel::y, Channel::precision, Channel::skip}};
  EXPECT_EQ(parse_input("eps_precision+skip"), wide);
  EXPECT_EQ(to_string(wide), "pivot+y+precision+skip");
  EXPECT_EQ(parse_input("state"), NetworkInput::prior);
  EXPECT_EQ(parse_input("prior+y"), NetworkInput::palette);
}

TEST(NetworkInput, RefusesNamesThatAreNone) {
  const std::string wanted =
      "; wanted prior, palette, eps, eps_precision, pivot, pivot_sigma, indi or i2sb, or state, "
      "pivot, indi or i2sb followed by +y, +deviation, +precision or +skip";
  EXPECT_EQ(error_of([] { parse_input("pallete"); }),
            "unknown input \"pallete\" (did you mean \"palette\"?)" + wanted);
  for (const std::string name : {"", "pivot+", "+y", "pivot+z", "pivot++y"})
    EXPECT_EQ(error_of([&] { parse_input(name); }).substr(0, 15), "unknown input \"") << name;
  EXPECT_EQ(error_of([] { parse_input("eps+y"); }),
            "input \"eps+y\": the channel y is given twice");
}

TEST(NetworkInput, CountsTheChannelsOfItsNetwork) {
  EXPECT_EQ(NetworkInput::prior.channels(3), 3);
  EXPECT_EQ(NetworkInput::eps_precision.channels(3), 9);
  EXPECT_EQ(parse_input("i2sb+y+skip").channels(1), 3);
  EXPECT_FALSE(parse_input("prior+skip").conditional());
  for (const auto& [name, input] : input_presets()) {
    EXPECT_EQ(input.conditional(), name != "prior");
    EXPECT_EQ(input.is_bridge(), name == "indi" || name == "i2sb");
    EXPECT_EQ(input.needs_spectrum(), name == "eps_precision" || name == "pivot_sigma");
  }
}

// Of the presets each serves itself and no other, but that eps_precision also serves eps, and that
// networks of the pivot which see what is measured are priors, too; a skip makes no difference.
TEST(NetworkInput, ServesTheMethodsWhoseChannelsItHas) {
  for (const auto& [own, network] : input_presets())
    for (const auto& [name, method] : input_presets()) {
      const bool is_own_prior = own == "eps" || own == "eps_precision" || own == "pivot_sigma";
      const bool served = own == name || (own == "eps_precision" && name == "eps") ||
                          (is_own_prior && name == "prior");
      EXPECT_EQ(serves(network, method), served) << own << " " << name;
      EXPECT_EQ(serves(network.with(Channel::skip), method), served) << own << " " << name;
    }
  const NetworkInput both = parse_input("pivot+y+deviation");
  EXPECT_TRUE(serves(both, NetworkInput::eps) && serves(both, NetworkInput::pivot_sigma));
  EXPECT_FALSE(serves(both, NetworkInput::pivot) || serves(both, NetworkInput::palette));
}

}  // namespace
}  // namespace eps
