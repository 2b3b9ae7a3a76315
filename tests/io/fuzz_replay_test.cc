// The committed fuzz corpora, through the functions the fuzzers drive.
#include <set>

#include "fuzz/target.h"
#include "tests/files.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

TEST(FuzzReplay, EveryReaderHasACorpusAndEveryCorpusAReader) {
  std::set<std::string> folders, readers;
  for (const auto& entry : fs::directory_iterator(EPS_SOURCE_DIR "/fuzz/corpus")) {
    folders.insert(entry.path().filename().string());
  }
  for (const auto& [name, reader] : fuzz::readers()) readers.insert(name);
  EXPECT_EQ(folders, readers);
}

// Files named good_* are read; every other one is refused with a message that names it.
TEST(FuzzReplay, GoodFilesAreReadAndAllOthersRefused) {
  for (const auto& [name, reader] : fuzz::readers()) {
    int good = 0, bad = 0;
    for (const auto& entry :
         fs::directory_iterator(fs::path(EPS_SOURCE_DIR "/fuzz/corpus") / name)) {
      const std::string file = entry.path().filename().string();
      SCOPED_TRACE(name + "/" + file);
      std::string message;
      EXPECT_NO_THROW(message = fuzz::feed(reader, get_bytes(entry.path().string())));
      if (file.starts_with("good_")) {
        EXPECT_EQ(message, "");
        ++good;
      } else {
        EXPECT_TRUE(message.starts_with(name + ": ")) << message;
        ++bad;
      }
    }
    EXPECT_GE(good, 3) << name;
    EXPECT_GE(bad, 3) << name;
  }
}

}  // namespace
}  // namespace eps
