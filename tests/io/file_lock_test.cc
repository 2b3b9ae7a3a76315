// Locks between processes that share a folder.
#include "eps/io/file_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include "eps/io/file.h"
#include "tests/files.h"

namespace eps {
namespace {

TEST(FileLock, IsHeldByOneAndGoesWithIt) {
  const Folder folder;
  const std::string path = folder.file("lock");
  {
    const FileLock first(path, FileLock::IfHeld::give_up);
    EXPECT_TRUE(first.held());
    EXPECT_FALSE(FileLock(path, FileLock::IfHeld::give_up).held());
  }
  EXPECT_TRUE(FileLock(path, FileLock::IfHeld::wait).held());
}

TEST(FileLock, GoesWithAProcessThatIsKilled) {
  const Folder folder;
  const std::string path = folder.file("lock");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const FileLock lock(path, FileLock::IfHeld::wait);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(FileLock(path, FileLock::IfHeld::give_up).held());
}

TEST(FileLock, SaysWhereItCannotBe) {
  EXPECT_NE(error_of([] {
              FileLock("/nonexistent/lock", FileLock::IfHeld::wait);
            }).find("/nonexistent/lock: cannot be opened"),
            std::string::npos);
}

TEST(Temporaries, AreRemovedAndNothingElse) {
  const Folder folder;
  put_bytes(folder.file("a.npy"), "kept");
  put_bytes(folder.file("a.npy.12.0.tmp"), "left by a writer that was killed");
  remove_temporaries(folder.file(""));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.npy"});
}

TEST(Temporaries, OfLivingWritersAndStrangersStay) {
  const Folder folder;
  put_bytes(folder.file("notes.tmp"), "not ours");
  AtomicFile file(folder.file("a.npy"));
  file.write("whole");
  remove_temporaries(folder.file(""));
  file.commit();
  EXPECT_EQ(get_bytes(folder.file("a.npy")), "whole");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.npy", "notes.tmp"}));
}

}  // namespace
}  // namespace eps
