// The folder of a run: in which order a save writes, and who may write.
#include "eps/training/run_directory.h"

#include "tests/files.h"

namespace eps::training {
namespace {

const Safetensors kNumbers{{{"a", at::ones({2})}}, {}};

// The state is the commit: without a network there is none.
TEST(RunDirectory, SavesTheNetworkBeforeTheState) {
  const Folder folder;
  const RunDirectory run(folder.file(""));
  std::filesystem::create_directory(run.file("network.safetensors"));
  EXPECT_NE(error_of([&] { run.save(8, kNumbers, kNumbers); }).find("is a directory"),
            std::string::npos);
  EXPECT_FALSE(run.newest_state({}));
  std::filesystem::remove(run.file("network.safetensors"));
  run.save(8, kNumbers, kNumbers);
  EXPECT_EQ(run.newest_state({})->images, 8);
}

TEST(RunDirectory, IsOfOneProcess) {
  const Folder folder;
  const std::string path = folder.file("run");
  const auto lock = RunDirectory::create(path, "{}");
  EXPECT_EQ(error_of([&] { RunDirectory::open(path).lock(); }),
            path + ": another process is training in this folder");
  EXPECT_EQ(error_of([&] { RunDirectory::create(path, "{}"); }),
            path + ": another process is training in this folder");
  EXPECT_EQ(error_of([&] { RunDirectory::check_free(path); }),
            path + ": exists and is not empty; choose another folder, or resume the run in it");
}

}  // namespace
}  // namespace eps::training
