// Pictures of different sizes: what is read, and where its pixels lie.
#include "eps/data/pictures.h"

#include "tests/data/image_files.h"
#include "tests/data/mapped_pictures.h"
#include "tests/io/zip_bytes.h"

namespace eps {
namespace {

TEST(Pictures, SeveralSourcesAreOneSetInTheOrderOfNames) {
  const Folder folder, other;
  put_image(folder, "b/2.png", mapped(5, 9, 2));
  put_image(folder, "a/1.png", mapped(8, 3, 1));
  const auto png = [](const Tensor& image) { return encode_png(image, "test"); };
  put_bytes(other.file("x.zip"),
            zipped::archive({{"z/4.png", png(mapped(1, 7, 4))},
                             {"LICENSE", "free"},
                             {"dataset.json", R"({"labels": null})"},
                             {"c/3.png", png(mapped(2, 2, 3))}}));
  const Pictures pictures = read_pictures({folder.file(""), other.file("x.zip")}, {});
  ASSERT_EQ(pictures.size(), 4);
  EXPECT_EQ(pictures.skipped, 0);
  EXPECT_EQ(pictures.name, folder.file("") + ", " + other.file("x.zip"));
  EXPECT_EQ(pictures.pixels.sizes(), (Shape{8 * 3 + 5 * 9 + 2 * 2 + 7, 3}));
  const std::vector<Tensor> wanted = {
      mapped(8, 3, 1), mapped(5, 9, 2), mapped(2, 2, 3), mapped(1, 7, 4)};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_TRUE(identical(pictures.picture(i).contiguous(), wanted[static_cast<size_t>(i)]));
  EXPECT_EQ(pictures.frames[0].name, folder.file("a/1.png"));
  EXPECT_EQ(pictures.frames[3].name, other.file("x.zip") + ": 'z/4.png'");

  const Pictures part = pictures.chosen({3, 1});
  EXPECT_EQ(part.pixels.size(0), 7 + 45);
  EXPECT_TRUE(identical(part.picture(0).contiguous(), wanted[3]));
  EXPECT_TRUE(identical(part.picture(1).contiguous(), wanted[1]));
}

TEST(Pictures, OnesThatCannotBeReadAreNamedSkippedAndCounted) {
  const Folder folder;
  put_bytes(folder.file("a.png"), "no picture");
  put_image(folder, "b.png", mapped(4, 6, 1));
  put_bytes(folder.file("c.jpg"), "\xff\xd8\xff");
  put_image(folder, "d.png", mapped(6, 4, 2));
  std::vector<std::string> reports;
  const Pictures pictures = read_pictures(
      {folder.file("")}, {.report = [&](const auto& line) { reports.push_back(line); }});
  EXPECT_EQ(pictures.size(), 2);
  EXPECT_EQ(pictures.skipped, 2);
  EXPECT_TRUE(identical(pictures.picture(1).contiguous(), mapped(6, 4, 2)));
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_TRUE(reports[0].starts_with(folder.file("a.png") + ": not a PNG or JPEG"));
  EXPECT_TRUE(reports[1].starts_with(folder.file("c.jpg") + ": "));
  EXPECT_TRUE(error_of([&] {
                read_pictures({folder.file("")}, {.strict = true});
              }).starts_with(folder.file("a.png")));
}

TEST(Pictures, GreyOnesBesideColourAreConvertedOnRequest) {
  const Folder folder;
  put_image(folder, "a.png", flat(7, 1, 3, 4));
  put_image(folder, "b.png", mapped(6, 4, 2));
  EXPECT_EQ(error_of([&] { read_pictures({folder.file("")}, {}); }),
            folder.file("b.png") + ": the image is 3 x 6 x 4, but " + folder.file("a.png") +
                " is 1 x 3 x 4; ask for 1 or 3 channels to convert them");
  const Pictures colour = read_pictures({folder.file("")}, {.channels = 3});
  EXPECT_TRUE(identical(colour.picture(0).contiguous(), flat(7, 3, 3, 4)));
}

TEST(Pictures, LabelsThatNothingWouldUseAreRefused) {
  const Folder folder;
  put_image(folder, "a.png", mapped(4, 6, 1));
  put_bytes(folder.file("dataset.json"), R"({"labels": [["a.png", 1]]})");
  EXPECT_EQ(error_of([&] { read_pictures({folder.file("")}, {}); }),
            folder.file("") +
                ": has a dataset.json with labels, which pictures of different sizes cannot have");
  // Folders that happen to be several are no labels.
  std::filesystem::remove(folder.file("dataset.json"));
  put_image(folder, "x/a.png", mapped(4, 6, 1));
  EXPECT_EQ(read_pictures({folder.file("")}, {}).size(), 2);
  EXPECT_EQ(read_pictures({"synthetic:count=3,size=8"}, {}).size(), 3);
}

}  // namespace
}  // namespace eps
