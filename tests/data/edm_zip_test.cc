// Archives in EDM's layout: what is packed is read back.
#include "eps/io/zip.h"
#include "tests/data/image_files.h"
#include "tests/io/zip_bytes.h"

namespace eps {
namespace {

TEST(EdmZip, AnArchiveIsReadInTheOrderOfNames) {
  const Folder folder;
  const std::string path = folder.file("a.zip");
  const auto png = [](int64_t value) { return encode_png(flat(value), "test"); };
  put_bytes(path,
            zipped::archive({{"00001/b.png", png(2)}, {"readme", "x"}, {"00000/a.png", png(1)}}));
  EXPECT_EQ(values(read_dataset({path}, {})), (Numbers{1, 2}));
  EXPECT_EQ(classes(read_dataset({path}, {})), (Numbers{0, 1}));
  put_bytes(path,
            zipped::archive({{"00001/b.png", png(2)},
                             {"00000/a.png", png(1)},
                             {"dataset.json", R"({"labels": null})"}}));
  EXPECT_FALSE(read_dataset({path}, {}).labels.defined());
}

TEST(EdmZip, WhatIsPackedIsReadBackToTheBit) {
  const Folder folder;
  const std::string path = folder.file("a.zip");
  Dataset dataset = read_dataset({"synthetic:count=12,size=16"}, {});
  Dataset none = dataset, vectors = dataset;
  none.labels = Tensor();
  none.label_dim = 0;
  vectors.label_dim = 3;
  vectors.labels = (at::arange(36, at::kFloat) / 7 - 2).view({12, 3});
  for (const Dataset& set : {dataset, none, vectors}) {
    write_edm_zip(path, set);
    const Dataset again = read_dataset({path}, {.strict = true});
    EXPECT_TRUE(identical(again.images, set.images));
    ASSERT_EQ(again.labels.defined(), set.labels.defined());
    if (set.labels.defined()) {
      EXPECT_TRUE(identical(again.labels, set.labels));
    }
    EXPECT_EQ(again.label_dim, set.label_dim);
  }
  const std::string bytes = get_bytes(path);
  const std::vector<ZipEntry> entries = read_zip(bytes, path);
  ASSERT_EQ(entries.size(), 13u);
  EXPECT_EQ(entries[11].name, "00000/img00000011.png");
  EXPECT_EQ(entries[12].name, "dataset.json");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.zip"});
}

TEST(EdmZip, AThousandImagesShareAFolderOfThePack) {
  const Folder folder;
  Dataset dataset;
  dataset.images = at::zeros({1001, 1, 1, 1}, at::kByte);
  write_edm_zip(folder.file("a.zip"), dataset);
  const std::string bytes = get_bytes(folder.file("a.zip"));
  EXPECT_EQ(read_zip(bytes, "a.zip")[999].name, "00000/img00000999.png");
  EXPECT_EQ(read_zip(bytes, "a.zip")[1000].name, "00001/img00001000.png");
}

TEST(EdmZip, OnlySquareImagesArePacked) {
  const Folder folder;
  Dataset dataset;
  dataset.images = at::zeros({1, 1, 4, 6}, at::kByte);
  EXPECT_EQ(error_of([&] { write_edm_zip(folder.file("a.zip"), dataset); }),
            folder.file("a.zip") + ": an EDM data set has square images, these are 6 x 4; give a " +
                "size to make them square");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace eps
