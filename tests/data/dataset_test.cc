// Data sets from folders: what is read, in which order and in which shape.
#include "tests/data/image_files.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

TEST(Dataset, AFolderIsReadInTheOrderOfNames) {
  const Folder folder;
  put_image(folder, "c.png", flat(3));
  put_image(folder, "a/z/2.PNG", flat(1));
  put_image(folder, "b.png", flat(2));
  put_image(folder, ".hidden/a.png", flat(9));
  put_bytes(folder.file("notes.txt"), "no image");
  const Dataset dataset = read_dataset({folder.file("")}, {});
  EXPECT_EQ(values(dataset), (Numbers{1, 2, 3}));
  EXPECT_FALSE(dataset.labels.defined());
  EXPECT_EQ(dataset.label_dim, 0);
  EXPECT_EQ(dataset.name, folder.file(""));
}

TEST(Dataset, LinksAreFollowedButNotInCircles) {
  const Folder folder, elsewhere;
  put_image(elsewhere, "a.png", flat(1));
  put_image(folder, "z.png", flat(2));
  fs::create_directory_symlink(elsewhere.file(""), folder.file("link"));
  fs::create_symlink("absent.png", folder.file("broken.png"));
  const Dataset dataset = read_dataset({folder.file("")}, {});
  EXPECT_EQ(values(dataset), (Numbers{1, 2}));
  EXPECT_EQ(dataset.skipped, 1);
  fs::create_directory_symlink(".", folder.file("circle"));
  EXPECT_NE(error_of([&] { read_dataset({folder.file("")}, {}); }).find("circle"),
            std::string::npos);
}

TEST(Dataset, AnUnreadableImageIsSkippedWithItsLabel) {
  const Folder folder;
  put_bytes(folder.file("0.webp"), "RIFF");
  put_image(folder, "a.png", flat(1));
  put_bytes(folder.file("b.png"), "not a picture");
  put_image(folder, "c.png", flat(3));
  put_bytes(folder.file("dataset.json"),
            R"({"labels": [["0.webp", 9], ["a.png", 1], ["b.png", 2], ["c.png", 3]]})");
  std::vector<std::string> reports;
  const DatasetOptions options = {.report = [&](const auto& line) { reports.push_back(line); }};
  const Dataset dataset = read_dataset({folder.file("")}, options);
  EXPECT_EQ(values(dataset), (Numbers{1, 3}));
  EXPECT_EQ(classes(dataset), (Numbers{1, 3}));
  EXPECT_EQ(dataset.label_dim, 10);  // a property of the file, not of what could be read
  EXPECT_EQ(dataset.skipped, 2);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0], folder.file("0.webp") + ": not a PNG or JPEG image (starts with \"RIFF\")");
  EXPECT_TRUE(reports[1].starts_with(folder.file("b.png") + ": not a PNG or JPEG image"));
}

TEST(Dataset, StrictStopsAtTheFirstUnreadableImage) {
  const Folder folder;
  for (const char* name : {"a.png", "d.png"}) put_image(folder, name, flat(1));
  for (const char* name : {"b.png", "c.png"}) put_bytes(folder.file(name), "");
  EXPECT_TRUE(error_of([&] {
                read_dataset({folder.file("")}, {.strict = true});
              }).starts_with(folder.file("b.png")));
}

TEST(Dataset, NothingToReadIsAnError) {
  const Folder empty, broken;
  EXPECT_EQ(error_of([&] { read_dataset({empty.file("")}, {}); }),
            empty.file("") + ": holds no images (.png, .jpg, .jpeg)");
  put_bytes(broken.file("a.png"), "x");
  EXPECT_TRUE(error_of([&] {
                read_dataset({broken.file("")}, {});
              }).starts_with("none of 1 images can be read; the first: " + broken.file("a.png")));
  EXPECT_EQ(error_of([&] { read_dataset({empty.file("absent")}, {}); }),
            empty.file("absent") + ": cannot open: No such file or directory");
}

TEST(Dataset, ADifferentShapeIsNamedWithBothSizes) {
  const Folder folder;
  put_image(folder, "a.png", flat(1));
  put_image(folder, "b.png", flat(2, 3, 4, 6));
  put_image(folder, "c.png", flat(2, 3, 8, 8));
  EXPECT_EQ(error_of([&] { read_dataset({folder.file("")}, {}); }),
            folder.file("b.png") + ": the image is 3 x 4 x 6, but " + folder.file("a.png") +
                " is 3 x 4 x 4; ask for a size to convert them");
  put_image(folder, "b.png", flat(2, 1));
  EXPECT_EQ(error_of([&] { read_dataset({folder.file("")}, {}); }),
            folder.file("b.png") + ": the image is 1 x 4 x 4, but " + folder.file("a.png") +
                " is 3 x 4 x 4; ask for 1 or 3 channels to convert them");
}

TEST(Dataset, ChannelsAreReplicatedOrAveraged) {
  const Folder folder;
  put_image(folder, "a.png", flat(7, 1));
  put_image(folder, "b.png", at::cat({flat(1, 1), flat(2, 1), flat(2, 1)}));    // mean 5/3
  put_image(folder, "c.png", at::cat({flat(10, 1), flat(20, 1), flat(1, 1)}));  // mean 31/3
  const Dataset colour = read_dataset({folder.file("")}, {.channels = 3});
  EXPECT_TRUE(identical(colour.images[0], flat(7)));
  EXPECT_EQ(colour.images[1][2][0][0].item<int64_t>(), 2);
  const Dataset grey = read_dataset({folder.file("")}, {.channels = 1});
  EXPECT_EQ(grey.images.size(1), 1);
  EXPECT_EQ(values(grey), (Numbers{7, 2, 10}));
}

// Columns 0 to 8 of 9 hold their number; the centred 4 x 4 square begins at column 2.
TEST(Dataset, CropTakesTheCentreAndResizeAllOfIt) {
  const Folder folder;
  const Tensor wide = at::arange(9, at::kByte).expand({1, 4, 9}).contiguous();
  put_image(folder, "a.png", wide);
  const Dataset crop = read_dataset({folder.file("")}, {.size = 4});
  EXPECT_TRUE(identical(crop.images[0], wide.narrow(2, 2, 4)));
  const Dataset whole = read_dataset({folder.file("")}, {.size = 4, .fit = "resize"});
  EXPECT_LT(whole.images[0][0][0][0].item<int64_t>(), 2);
  EXPECT_GT(whole.images[0][0][0][3].item<int64_t>(), 6);
}

TEST(Dataset, TheLimitTakesTheFirstByName) {
  const Folder first, second;
  for (const int64_t i : {0, 1, 2}) {
    put_image(first, std::to_string(i) + "/a.png", flat(i));
    put_image(second, std::to_string(i) + "/a.png", flat(10 + i));
  }
  const Dataset dataset = read_dataset({first.file(""), second.file("")}, {.limit = 4});
  EXPECT_EQ(values(dataset), (Numbers{0, 1, 2, 10}));
  EXPECT_EQ(classes(dataset), (Numbers{0, 1, 2, 0}));
  EXPECT_EQ(dataset.label_dim, 3);
}

TEST(Dataset, WrongOptionsAreNamed) {
  const auto message = [](const DatasetOptions& options) {
    return error_of([&] { read_dataset({"synthetic"}, options); });
  };
  EXPECT_EQ(message({.size = -1}), "data set: the size must be 0 to 8192, got -1");
  EXPECT_EQ(message({.fit = "pad"}), "data set: fit is crop or resize, got pad");
  EXPECT_EQ(message({.channels = 4}), "data set: channels is 0, 1 or 3, got 4");
  EXPECT_EQ(message({.limit = -1}), "data set: the limit must be at least 0, got -1");
}

// Half of the bytes 0, half 255: -1 and 1.
TEST(Dataset, MomentsAreThoseOfTheImagesInMinusOneToOne) {
  const Tensor images =
      at::cat({at::zeros({2, 2, 3, 3}, at::kByte), flat(255, 2, 3, 3).expand({2, 2, 3, 3})});
  images.select(1, 1).fill_(255);
  const ChannelMoments moments = channel_moments(images);
  EXPECT_NEAR(moments.mean[0], 0, 1e-12);
  EXPECT_NEAR(moments.std[0], 1, 1e-12);
  EXPECT_NEAR(moments.mean[1], 1, 1e-12);
  EXPECT_NEAR(moments.std[1], 0, 1e-12);
}

}  // namespace
}  // namespace eps
