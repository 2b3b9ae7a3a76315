// Whole files: what is written is read, and a failed write changes nothing.
#include "eps/io/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/files.h"

namespace eps {
namespace {

TEST(File, ReadsBackWhatWasWritten) {
  const Folder folder;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{1000000}}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 256);
    write_file_atomically(folder.file("a"), bytes);
    EXPECT_EQ(get_bytes(folder.file("a")), bytes);
    EXPECT_EQ(read_file(folder.file("a")), bytes);
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(File, PiecesAppearTogetherOrNotAtAll) {
  const Folder folder;
  put_bytes(folder.file("a"), "old");
  {
    AtomicFile dropped(folder.file("a"));
    dropped.write("new");
  }
  EXPECT_EQ(get_bytes(folder.file("a")), "old");
  AtomicFile file(folder.file("a"));
  file.write("one ");
  file.write("two");
  EXPECT_EQ(get_bytes(folder.file("a")), "old");
  file.commit();
  EXPECT_EQ(get_bytes(folder.file("a")), "one two");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(File, ReadsAPipeToItsEnd) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const std::string bytes(100000, 'x');
  std::thread writer([&] { put_bytes(folder.file("pipe"), bytes); });
  EXPECT_EQ(read_file(folder.file("pipe")), bytes);
  writer.join();
}

TEST(File, ErrorsNameThePathAndTheReason) {
  const Folder folder;
  const std::string missing = folder.file("missing"), directory = folder.file("");
  EXPECT_EQ(error_of([&] { read_file(missing); }),
            missing + ": cannot open: No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(directory); }),
            directory + ": is a directory, a file is wanted");
  EXPECT_EQ(error_of([&] { write_file_atomically(directory, "x"); }),
            directory + ": is a directory, a file is wanted");
  put_bytes(folder.file("a"), "old");
  const std::string below = folder.file("a") + "/b";
  EXPECT_EQ(error_of([&] { write_file_atomically(below, "x"); }),
            below + ": cannot create: Not a directory");
  EXPECT_EQ(get_bytes(folder.file("a")), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(File, AnUnreadableFileIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const Folder folder;
  put_bytes(folder.file("a"), "x");
  ::chmod(folder.file("a").c_str(), 0);
  EXPECT_EQ(error_of([&] { read_file(folder.file("a")); }),
            folder.file("a") + ": cannot open: Permission denied");
}

TEST(File, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_EQ(error_of([] { write_file_atomically("/dev/full", "x"); }),
            "/dev/full: cannot write: No space left on device");
}

TEST(File, ADeviceIsWrittenToAndNotReplaced) {
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

// The limit on the size of a file stops the write half-way, as a disk that fills up does.
TEST(File, AWriteThatFailsHalfWayKeepsTheOldFile) {
  const Folder folder;
  write_file_atomically(folder.file("a"), "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      error_of([&] { write_file_atomically(folder.file("a"), std::string(5000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, folder.file("a") + ": cannot write: File too large");
  EXPECT_EQ(get_bytes(folder.file("a")), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(File, ManyWritersLeaveOneWholeFile) {
  const Folder folder;
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c) {
    writers.emplace_back([&folder, c] {
      for (int i = 0; i < 20; ++i) write_file_atomically(folder.file("x"), std::string(50000, c));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string bytes = get_bytes(folder.file("x"));
  EXPECT_EQ(bytes, std::string(50000, bytes.at(0)));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x"});
}

}  // namespace
}  // namespace eps
