// Entries that register themselves: of two with one name the first is kept.
#include "eps/base/registered.h"

#include "tests/files.h"

namespace eps {
namespace {

struct Named {
  std::string name;
  int number;
};

TEST(Registered, KeepsTheFirstAndReportsTheClashOnUse) {
  Registered<Named> table("thing");
  EXPECT_TRUE(table.add({"b", 1}));
  EXPECT_TRUE(table.add({"a", 2}));
  EXPECT_EQ(names_of(table.all()), (std::vector<std::string>{"a", "b"}));
  const auto& entries = table.all();
  EXPECT_FALSE(table.add({"b", 3}));
  EXPECT_EQ(entries.at("b").number, 1);
  EXPECT_EQ(error_of([&] { table.all(); }), "thing \"b\" is registered twice");
}

}  // namespace
}  // namespace eps
