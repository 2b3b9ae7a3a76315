// Archives that are written: the reader agrees, and none is ever seen half-written.
#include "eps/io/zip_writer.h"

#include "eps/io/zip.h"
#include "tests/files.h"
#include "tests/io/zip_bytes.h"

namespace eps {
namespace {

const std::map<std::string, std::string> kContents = {
    {"dataset.json", R"({"labels": null})"},
    {"00000/empty", ""},
    {"00000/bytes", std::string("\0\xff PK\x05\x06", 7)},
    {"\xc3\xa4.png", std::string(100000, 'x')}};

void write_all(const std::string& path) {
  ZipWriter writer(path);
  for (const auto& [name, content] : kContents) writer.add(name, content);
  writer.finish();
}

TEST(ZipWriter, TheReaderFindsEveryEntryStored) {
  const Folder folder;
  write_all(folder.file("a.zip"));
  const std::string bytes = get_bytes(folder.file("a.zip"));
  const std::vector<ZipEntry> entries = read_zip(bytes, "a.zip");
  ASSERT_EQ(entries.size(), kContents.size());
  auto expected = kContents.begin();
  for (const ZipEntry& entry : entries) {
    EXPECT_EQ(entry.name, expected->first);
    EXPECT_EQ(entry.crc32, zipped::crc(expected->second));
    EXPECT_EQ(stored_content(entry, "a.zip"), expected->second);
    ++expected;
  }
}

TEST(ZipWriter, TheSameContentGivesTheSameBytes) {
  const Folder folder;
  write_all(folder.file("a.zip"));
  write_all(folder.file("b.zip"));
  EXPECT_EQ(get_bytes(folder.file("a.zip")), get_bytes(folder.file("b.zip")));
}

// By PKWARE's APPNOTE, field by field; the time is 1 January 1980.
TEST(ZipWriter, OneEntryIsWhatTheFormatSays) {
  using zipped::little_endian;
  const Folder folder;
  ZipWriter writer(folder.file("a.zip"));
  writer.add("a", "bc");
  writer.finish();
  const std::string common = little_endian(20, 2) + little_endian(0x800, 2) + little_endian(0, 2) +
                             little_endian(0, 2) + little_endian(0x21, 2) +
                             little_endian(zipped::crc("bc"), 4) + little_endian(2, 4) +
                             little_endian(2, 4) + little_endian(1, 2) + little_endian(0, 2);
  const std::string local = "PK\x03\x04" + common + "a" + "bc";
  const std::string listed =
      "PK\x01\x02" + little_endian(20, 2) + common + std::string(10 + 4, '\0') + "a";
  EXPECT_EQ(get_bytes(folder.file("a.zip")),
            local + listed + zipped::end_record(1, listed.size(), local.size()));
}

TEST(ZipWriter, MoreEntriesThan16BitsCountAreRead) {
  const Folder folder;
  ZipWriter writer(folder.file("a.zip"));
  for (int i = 0; i < 65535; ++i) writer.add(std::to_string(i), "x");
  writer.finish();
  const std::string bytes = get_bytes(folder.file("a.zip"));
  const std::vector<ZipEntry> entries = read_zip(bytes, "a.zip");
  ASSERT_EQ(entries.size(), 65535u);
  EXPECT_EQ(entries.back().name, "65534");
}

TEST(ZipWriter, AnEmptyArchiveIsRead) {
  const Folder folder;
  ZipWriter(folder.file("a.zip")).finish();
  const std::string bytes = get_bytes(folder.file("a.zip"));
  EXPECT_TRUE(read_zip(bytes, "a.zip").empty());
}

TEST(ZipWriter, NothingHasTheNameBeforeTheEnd) {
  const Folder folder;
  put_bytes(folder.file("old.zip"), "old");
  {
    ZipWriter fresh(folder.file("a.zip")), over(folder.file("old.zip"));
    fresh.add("a", "content");
    over.add("a", "content");
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.zip")));
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"old.zip"});
  EXPECT_EQ(get_bytes(folder.file("old.zip")), "old");
}

TEST(ZipWriter, ANameTwiceOrNoneIsRefused) {
  const Folder folder;
  ZipWriter writer(folder.file("a.zip"));
  writer.add("a", "1");
  EXPECT_EQ(error_of([&] { writer.add("a", "2"); }),
            folder.file("a.zip") + ": entry 'a' is written twice");
  EXPECT_EQ(error_of([&] { writer.add("", "2"); }),
            folder.file("a.zip") + ": the name of an entry has 1 to 65534 bytes, got 0");
}

}  // namespace
}  // namespace eps
