// ZIP archives: what is read, and that no damage or lie gets past the checks.
#include "eps/io/zip.h"

#include <gtest/gtest.h>

#include "tests/files.h"
#include "tests/io/zip_bytes.h"

namespace eps {
namespace {

using pickled::little_endian;
using zipped::File;

// "to be or not to be, to be or not to be", deflated with the fixed Huffman code.
const std::string kContent = "to be or not to be, to be or not to be";
const std::string kDeflated(
    "\x2b\xc9\x57\x48\x4a\x55\xc8\x2f\x52\xc8\xcb\x2f\x51\x28\x01\x71\x74\x20\x14\x8a\x18\x00", 22);

// Reads everything there is, as the strictest user would.
std::vector<std::string> contents(const std::string& bytes) {
  std::vector<std::string> all;
  for (const ZipEntry& entry : read_zip(bytes, "a.zip"))
    all.push_back(entry_content(entry, "a.zip"));
  return all;
}

TEST(Zip, ReadsStoredEntriesInPlace) {
  const std::string bytes = zipped::archive({{"a/data.pkl", "hello"}, {"a/empty", ""}});
  const auto entries = read_zip(bytes, "a.zip");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "a/data.pkl");
  EXPECT_EQ(stored_content(entries[0], "a.zip"), "hello");
  EXPECT_EQ(entries[0].data.data(), bytes.data() + bytes.find("hello"));
  EXPECT_EQ(stored_content(entries[1], "a.zip"), "");
}

TEST(Zip, ReadsAnArchiveWithACommentAndAnEmptyOne) {
  std::string bytes = zipped::archive({{"x", "1"}});
  bytes[bytes.size() - 2] = 7;
  EXPECT_EQ(contents(bytes + "comment"), std::vector<std::string>{"1"});
  EXPECT_TRUE(read_zip(zipped::archive({}), "a.zip").empty());
}

TEST(Zip, InflatesDeflatedEntries) {
  const std::string bytes = zipped::archive({{"x", kContent, 8, kDeflated}});
  const auto entries = read_zip(bytes, "a.zip");
  EXPECT_EQ(entry_content(entries[0], "a.zip"), kContent);
  const std::string error = error_of([&] { stored_content(entries[0], "a.zip"); });
  EXPECT_NE(error.find("a.zip: entry 'x' is compressed (method 8)"), std::string::npos) << error;
}

TEST(Zip, RefusesADeflatedEntryOfAnotherSizeThanDeclared) {
  for (const char* declared :
       {"short", "to be or not to be, to be or not to be, that is the question"}) {
    const std::string bytes = zipped::archive({{"x", declared, 8, kDeflated}});
    EXPECT_EQ(error_of([&] { contents(bytes); }), "a.zip: entry 'x' does not decompress");
  }
}

TEST(Zip, RefusesToReserveMoreThanDeflateCanHold) {
  std::string bytes = zipped::archive({{"x", kContent, 8, kDeflated}});
  const std::string size = little_endian(kContent.size(), 4) + little_endian(1, 2);
  for (size_t at = bytes.find(size); at != std::string::npos; at = bytes.find(size, at + 1)) {
    bytes.replace(at, 4, little_endian(0xf0000000, 4));
  }
  const std::string error = error_of([&] { contents(bytes); });
  EXPECT_NE(error.find("declares 4026531840 bytes"), std::string::npos) << error;
}

TEST(Zip, ListsOtherMethodsAndEncryptedEntriesButDoesNotReadThem) {
  const std::string bytes = zipped::archive({{"x", "abc", 12, "BZh"}, {"y", "abc", 0, "", 1}});
  const auto entries = read_zip(bytes, "a.zip");
  ASSERT_EQ(entries.size(), 2u);
  const std::string error = error_of([&] { entry_content(entries[0], "a.zip"); });
  EXPECT_NE(error.find("entry 'x' is compressed (method 12)"), std::string::npos) << error;
  EXPECT_EQ(error_of([&] { entry_content(entries[1], "a.zip"); }), "a.zip: entry 'y' is encrypted");
}

TEST(Zip, SeesEveryDamagedByteOfTheContent) {
  const std::string bytes = zipped::archive({{"x", "hello"}});
  for (size_t i = 0; i < 5; ++i) {
    std::string damaged = bytes;
    damaged[damaged.find("hello") + i] ^= 1;
    EXPECT_EQ(error_of([&] { contents(damaged); }),
              "a.zip: entry 'x' is damaged, or was written without checksums (its CRC-32 differs)");
  }
}

TEST(Zip, RefusesAnArchiveCutAnywhere) {
  const std::string bytes = zipped::archive({{"x", "hello"}, {"y", kContent, 8, kDeflated}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(contents(bytes.substr(0, size)), Error) << size;
  }
}

TEST(Zip, RefusesOverlappingAndRepeatedEntries) {
  const File x{"x", "hello"};
  const std::string files = zipped::local(x);
  const std::string one = zipped::listed(x, 0);
  const std::string repeated =
      files + one + one + zipped::end_record(2, 2 * one.size(), files.size());
  EXPECT_EQ(error_of([&] { read_zip(repeated, "a.zip"); }), "a.zip: entry 'x' appears twice");

  // An entry inside the data of another, the way zip bombs share their payload.
  const File inner{"inner", "hello"};
  const File outer{"outer", zipped::local(inner)};
  const std::string outer_bytes = zipped::local(outer);
  const std::string directory =
      zipped::listed(outer, 0) +
      zipped::listed(inner, outer_bytes.size() - zipped::local(inner).size());
  const std::string nested =
      outer_bytes + directory + zipped::end_record(2, directory.size(), outer_bytes.size());
  EXPECT_EQ(error_of([&] { read_zip(nested, "a.zip"); }),
            "a.zip: entries 'outer' and 'inner' overlap");
}

TEST(Zip, RefusesADirectoryThatPointsOutside) {
  const File x{"x", "hello"};
  const std::string files = zipped::local(x);
  const std::string directory = zipped::listed(x, 0);
  const auto archive = [&](uint64_t entries, uint64_t size, uint64_t offset) {
    return files + directory + zipped::end_record(entries, size, offset);
  };
  EXPECT_EQ(contents(archive(1, directory.size(), files.size())),
            std::vector<std::string>{"hello"});
  EXPECT_THROW(read_zip(archive(1, directory.size(), 5000), "a.zip"), Error);
  EXPECT_THROW(read_zip(archive(1, 5000, files.size()), "a.zip"), Error);
  EXPECT_THROW(read_zip(archive(2, directory.size(), files.size()), "a.zip"), Error);
  EXPECT_THROW(read_zip(archive(60000, directory.size(), files.size()), "a.zip"), Error);
  for (const uint64_t offset : {uint64_t{1}, uint64_t{30}, files.size(), uint64_t{0xfffffffe}}) {
    const std::string astray = zipped::listed(x, offset);
    EXPECT_THROW(
        read_zip(files + astray + zipped::end_record(1, astray.size(), files.size()), "a.zip"),
        Error);
  }
}

TEST(Zip, RefusesALocalHeaderThatDisagrees) {
  const File x{"x", "hello"};
  for (const File& other : {File{"z", "hello"}, File{"x", "hello", 8, "hello"}}) {
    const std::string files = zipped::local(other);
    const std::string directory = zipped::listed(x, 0);
    const std::string bytes =
        files + directory + zipped::end_record(1, directory.size(), files.size());
    EXPECT_EQ(error_of([&] { read_zip(bytes, "a.zip"); }),
              "a.zip: entry 'x' does not agree with its local header");
  }
}

// One entry whose sizes, offset and directory are all in the zip64 records.
std::string zip64_archive(uint64_t size, uint64_t offset) {
  const File x{"x", "hello"};
  const std::string files = zipped::local(x);
  std::string entry = zipped::listed(x, 0xffffffff);
  const std::string extra = little_endian(1, 2) + little_endian(24, 2) + little_endian(size, 8) +
                            little_endian(size, 8) + little_endian(offset, 8);
  entry.replace(20, 8, std::string(8, '\xff'));
  entry.replace(30, 2, little_endian(extra.size(), 2));
  entry += extra;
  const std::string end64 = little_endian(0x06064b50, 4) + little_endian(44, 8) +
                            little_endian(45, 2) + little_endian(45, 2) + little_endian(0, 8) +
                            little_endian(1, 8) + little_endian(1, 8) +
                            little_endian(entry.size(), 8) + little_endian(files.size(), 8);
  const std::string locator = little_endian(0x07064b50, 4) + little_endian(0, 4) +
                              little_endian(files.size() + entry.size(), 8) + little_endian(1, 4);
  return files + entry + end64 + locator + zipped::end_record(0xffff, 0xffffffff, 0xffffffff);
}

TEST(Zip, ReadsZip64Records) {
  EXPECT_EQ(contents(zip64_archive(5, 0)), std::vector<std::string>{"hello"});
}

TEST(Zip, RefusesZip64RecordsThatPointOutside) {
  EXPECT_THROW(contents(zip64_archive(uint64_t{1} << 40, 0)), Error);
  EXPECT_THROW(contents(zip64_archive(~uint64_t{0}, 0)), Error);
  EXPECT_THROW(contents(zip64_archive(5, ~uint64_t{0})), Error);
  const std::string bytes = zip64_archive(5, 0);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(contents(bytes.substr(0, size)), Error) << size;
  }
}

TEST(Zip, ShowsHostileNamesHarmlessly) {
  const std::string bytes = zipped::archive({{"\x1b[2J\nx", "hello", 12, "?"}});
  const std::string error = error_of([&] { contents(bytes); });
  EXPECT_NE(error.find("'\\x1b[2J\\x0ax'"), std::string::npos) << error;
}

}  // namespace
}  // namespace eps
