// Archives and descriptions of pictures of different sizes.
#include "eps/data/summary.h"
#include "eps/io/zip.h"
#include "tests/data/image_files.h"
#include "tests/data/mapped_pictures.h"
#include "tests/image_bytes.h"

namespace eps {
namespace {

std::map<std::string, std::string> entries_of(const std::string& path) {
  const std::string bytes = get_bytes(path);
  std::map<std::string, std::string> entries;
  for (const ZipEntry& entry : read_zip(bytes, path))
    entries[entry.name] = std::string(stored_content(entry, path));
  return entries;
}

TEST(PictureZip, FilesAreCopiedUnlessTheyAreConverted) {
  const Folder folder, out;
  // 8 x 8 grey pixels of 200
  const std::string data{static_cast<char>(0b10100100), static_cast<char>(0b00111111)};
  const std::string jpeg = jpeg_start(0xc0, 8, 8, 1) + jpeg_scan(1, 0, 63, 0, 0, data) + kJpegEnd;
  const std::string png = encode_png(mapped(4, 9, 1).slice(0, 0, 1), "test");
  std::filesystem::create_directories(folder.file("a"));
  put_bytes(folder.file("a/1.jpg"), jpeg);
  put_bytes(folder.file("b.png"), png);
  put_bytes(folder.file("c.png"), "no picture");
  std::vector<std::string> reports;
  DatasetOptions options{.report = [&](const auto& line) { reports.push_back(line); }};
  PackedPictures packed = write_picture_zip(out.file("x.zip"), {folder.file("")}, options);
  EXPECT_EQ(packed.pictures, 2);
  EXPECT_EQ(packed.converted, 0);
  EXPECT_EQ(packed.skipped, 1);
  EXPECT_EQ(reports.size(), 1u);
  using Entries = std::map<std::string, std::string>;
  EXPECT_EQ(entries_of(out.file("x.zip")), (Entries{{"a/1.jpg", jpeg}, {"b.png", png}}));

  // The archive is a source, and what is converted has the pixels that are read.
  options.channels = 3;
  packed = write_picture_zip(out.file("y.zip"), {out.file("x.zip")}, options);
  EXPECT_EQ(packed.converted, 2);
  const Entries entries = entries_of(out.file("y.zip"));
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(identical(parse_image(entries.at("a/1.png"), "a"), flat(200, 3, 8, 8)));
  const Pictures read = read_pictures({out.file("y.zip")}, {});
  EXPECT_TRUE(identical(read.pixels, read_pictures({out.file("x.zip")}, options).pixels));
}

TEST(PictureZip, NothingHalfWrittenRemains) {
  const Folder folder, other, out;
  for (const Folder* one : {&folder, &other}) put_image(*one, "a.png", mapped(4, 9, 1));
  const std::string path = out.file("x.zip");
  EXPECT_EQ(error_of([&] {
              write_picture_zip(path, {folder.file(""), other.file("")}, {});
            }),
            path + ": entry 'a.png' is written twice");
  put_image(folder, "b.png", flat(1, 1));
  EXPECT_NE(error_of([&] { write_picture_zip(path, {folder.file("")}, {}); }).find("channels"),
            std::string::npos);
  EXPECT_TRUE(out.names().empty());
}

// Two pictures of half 0 and half 255 in the first channel.
TEST(Summary, DescribesPicturesOfSeveralSizes) {
  const Folder folder;
  Tensor half = flat(255, 3, 10, 4);
  half[0].narrow(0, 0, 5).zero_();
  put_image(folder, "x/a.png", half);
  put_image(folder, "y/b.png", half.transpose(1, 2).slice(2, 2, 8).contiguous());
  put_bytes(folder.file("y/c.png"), "no picture");
  const DatasetSummary summary = summary_of({folder.file("")}, {});
  EXPECT_EQ(summary.images, 2);
  EXPECT_EQ(summary.skipped, 1);
  EXPECT_EQ(summary.channels, 3);
  EXPECT_EQ(summary.pixels, 10 * 4 + 4 * 6);
  EXPECT_FALSE(summary.one_size());
  EXPECT_EQ(summary.smallest, (DatasetSummary::Size{4, 4}));
  EXPECT_EQ(summary.largest, (DatasetSummary::Size{10, 6}));
  EXPECT_FALSE(summary.labels.defined());
  EXPECT_NEAR(summary.moments.mean[0], 0, 1e-12);
  EXPECT_NEAR(summary.moments.std[0], 1, 1e-12);
  EXPECT_NEAR(summary.moments.mean[1], 1, 1e-12);
  // Of one size they have what a data set has.
  const DatasetOptions options{.size = 4};
  const DatasetSummary same = summary_of({folder.file("")}, options);
  const Dataset dataset = read_dataset({folder.file("")}, options);
  EXPECT_TRUE(same.one_size());
  EXPECT_EQ(same.largest, (DatasetSummary::Size{4, 4}));
  EXPECT_TRUE(identical(same.labels, dataset.labels));
  EXPECT_EQ(same.label_dim, 2);
  EXPECT_EQ(same.moments.mean, channel_moments(dataset.images).mean);
  EXPECT_EQ(same.moments.std, channel_moments(dataset.images).std);
}

}  // namespace
}  // namespace eps
