// Content hashes: the published answers, and pieces that add up.
#include "eps/io/content_hash.h"

#include <gtest/gtest.h>

namespace eps {
namespace {

// Fowler, Noll and Vo's own test vectors.
TEST(ContentHash, HasThePublishedAnswersOfFnv1a) {
  EXPECT_EQ(content_hash(""), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(content_hash("a"), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(content_hash("abc"), "a68d622cec8b5822836dbc7977af7f3b");
  EXPECT_EQ(content_hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}

TEST(ContentHash, OfPiecesIsThatOfTheWhole) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * i % 251);
  ContentHash hash;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t count = std::min(begin / 2 + 1, bytes.size() - begin);
    hash.add(std::string_view(bytes).substr(begin, count));
    hash.add("");
    begin += count;
  }
  EXPECT_EQ(hash.hex(), content_hash(bytes));
}

TEST(ContentHash, SeesZerosSignsAndOrder) {
  using namespace std::string_view_literals;
  EXPECT_NE(content_hash("\0"sv), content_hash(""));
  EXPECT_NE(content_hash("\0\0"sv), content_hash("\0"sv));
  EXPECT_NE(content_hash("\xff"), content_hash("\x7f"));
  EXPECT_NE(content_hash("ab"), content_hash("ba"));
}

}  // namespace
}  // namespace eps
