// New folders: whole or absent, whoever is killed and whoever else writes.
#include "eps/io/new_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/files.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Both ways: where nothing is, and where an empty folder is, which may be a mount point.
class NewFolderTest : public testing::TestWithParam<bool> {
 protected:
  NewFolderTest() {
    if (GetParam()) fs::create_directory(out_);
  }
  // Nothing but what was there before.
  void expect_untouched() const {
    EXPECT_EQ(fs::exists(out_), GetParam());
    EXPECT_TRUE(!GetParam() || fs::is_empty(out_));
    EXPECT_EQ(folder_.names().size(), GetParam() ? 1u : 0u);
  }

  const Folder folder_;
  const std::string out_ = folder_.file("out");
};

TEST_P(NewFolderTest, AppearsWhole) {
  NewFolder out(out_ + "/");
  put_bytes(out.file("a"), "1");
  put_bytes(out.file("b"), "2");
  EXPECT_TRUE(NewFolder::is_free(out_));
  EXPECT_FALSE(fs::exists(out_ + "/a"));
  out.commit();
  EXPECT_EQ(names_in(out_), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"out"});
  EXPECT_FALSE(NewFolder::is_free(out_));
}

TEST_P(NewFolderTest, LeavesNothingWithoutCommit) {
  {
    NewFolder out(out_);
    put_bytes(out.file("a"), "1");
  }
  expect_untouched();
}

TEST_P(NewFolderTest, TheFirstOfTwoWins) {
  {
    NewFolder first(out_), second(out_);
    put_bytes(first.file("a"), "1");
    put_bytes(second.file("b"), "2");
    first.commit();
    EXPECT_EQ(error_of([&] { second.commit(); }),
              out_ +
                  ": another process has written it meanwhile; a new or an empty folder is "
                  "wanted");
  }
  EXPECT_EQ(names_in(out_), std::vector<std::string>{"a"});
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"out"});
}

TEST_P(NewFolderTest, IsNotBlockedByAProcessThatWasKilled) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    NewFolder out(out_);
    put_bytes(out.file("half"), "1");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(NewFolder::is_free(out_));
  NewFolder out(out_);
  put_bytes(out.file("a"), "1");
  out.commit();
  EXPECT_EQ(names_in(out_), std::vector<std::string>{"a"});
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"out"});
}

INSTANTIATE_TEST_SUITE_P(Both, NewFolderTest, testing::Bool());

TEST(NewFolder, DoesNotReplaceWhatIsThere) {
  const Folder folder;
  put_bytes(folder.file("file"), "x");
  EXPECT_FALSE(NewFolder::is_free(folder.file("file")));
  EXPECT_FALSE(NewFolder::is_free(folder.file("")));
  EXPECT_TRUE(NewFolder::is_free(folder.file("none")));
}

}  // namespace
}  // namespace eps
