// The log of a run: lines that a kill cut short, that strangers wrote, and those that come back.
#include "eps/training/run_log.h"

#include "eps/training/run_directory.h"
#include "tests/files.h"

namespace eps::training {
namespace {

TEST(RunLog, LeavesOutWhatIsNoObject) {
  const Folder folder;
  const std::string path = folder.file("log.jsonl");
  EXPECT_TRUE(read_log(path).empty());
  const std::string deep = R"({"images": )" + std::string(100000, '[') + std::string(100000, ']');
  put_bytes(path, "{\"images\": 8}\n[1]\n" + deep + "}\n{\"images\": 16}\n{\"images\": 2");
  const auto log = read_log(path);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[1].text, "{\"images\": 16}");
  EXPECT_EQ(log[1].where, path + ": line 4");
}

TEST(RunLog, IsCutBackToTheStateThatARunGoesOnFrom) {
  const Folder folder;
  const std::string path = folder.file("log.jsonl");
  put_bytes(path, "{\"images\": 8}\n{\"images\": 16}\n{\"images\": 2");
  RunDirectory(folder.file("")).rewind_log(8);
  EXPECT_EQ(get_bytes(path), "{\"images\": 8}\n");
  put_bytes(path, "{\"images\": \"8\"}\n");
  EXPECT_EQ(error_of([&] { RunDirectory(folder.file("")).rewind_log(8); }),
            folder.file("") + "/log.jsonl: line 1: images must be a whole number, got \"8\"");
}

}  // namespace
}  // namespace eps::training
