// The public headers: their list, their page, and what they include.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/files.h"

namespace eps {
namespace {

std::set<std::string> matches_of(const std::string& file, const std::string& pattern) {
  const std::string text = get_bytes(std::string(EPS_SOURCE_DIR "/") + file);
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i)
    found.insert((*i)[1]);
  return found;
}

std::set<std::string> public_headers() {
  return matches_of("cmake/EpsPublicHeaders.cmake", "(eps/[a-z0-9_/]+\\.h)");
}

TEST(PublicHeaders, IncludeOnlyPublicHeaders) {
  const auto listed = public_headers();
  ASSERT_GT(listed.size(), 40u);
  for (const auto& header : listed)
    for (const auto& included : matches_of(header, "#include \"(eps/[^\"]+)\""))
      EXPECT_TRUE(listed.contains(included)) << header << " includes " << included;
}

// nlohmann's and fmt's headers are the library's own business: an installed eps does not bring
// them.
TEST(PublicHeaders, NeedNoLibraryButTorch) {
  for (const auto& header : public_headers())
    for (const auto& included : matches_of(header, "#include <([^>]*/[^>]*)>"))
      EXPECT_TRUE(included.starts_with("ATen/") || included.starts_with("c10/") ||
                  included.starts_with("torch/"))
          << header << " includes " << included;
}

TEST(PublicHeaders, AreThoseOfThePage) {
  EXPECT_EQ(matches_of("docs/api.md", "\\| `(eps/[a-z0-9_/]+\\.h)` \\|"), public_headers());
}

}  // namespace
}  // namespace eps
