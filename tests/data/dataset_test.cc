// Data sets from folders and archives: what is read, in which order, with which labels.
#include "eps/data/dataset.h"

#include "eps/io/images/image.h"
#include "eps/io/zip.h"
#include "tests/files.h"
#include "tests/io/zip_bytes.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

// A square of one value.
Tensor flat(int64_t value, int64_t channels = 3, int64_t height = 4, int64_t width = 4) {
  return at::full({channels, height, width}, value, at::kByte);
}

void put_image(const Folder& folder, const std::string& name, const Tensor& image) {
  fs::create_directories(fs::path(folder.file(name)).parent_path());
  write_png(folder.file(name), image);
}

// The value of each image's first pixel: which images they are.
std::vector<int64_t> values(const Dataset& dataset) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    found.push_back(dataset.images[i][0][0][0].item<int64_t>());
  }
  return found;
}

std::vector<int64_t> classes(const Dataset& dataset) {
  const Tensor l = dataset.labels;
  return {l.data_ptr<int64_t>(), l.data_ptr<int64_t>() + l.numel()};
}

using Numbers = std::vector<int64_t>;

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

TEST(Dataset, FoldersAreClassesOnlyWhereAllImagesLieInSeveral) {
  const Folder several, one, beside;
  put_image(several, "dogs/a.png", flat(1));
  put_image(several, "cats/young/b.png", flat(2));
  put_image(several, "dogs/c.png", flat(3));
  const Dataset dataset = read_dataset({several.file("")}, {});
  EXPECT_EQ(values(dataset), (Numbers{2, 1, 3}));
  EXPECT_EQ(classes(dataset), (Numbers{0, 1, 1}));
  EXPECT_EQ(dataset.label_dim, 2);
  put_image(one, "cats/a.png", flat(1));
  EXPECT_FALSE(read_dataset({one.file("")}, {}).labels.defined());
  put_image(beside, "cats/a.png", flat(1));
  put_image(beside, "dogs/a.png", flat(1));
  put_image(beside, "a.png", flat(1));
  EXPECT_FALSE(read_dataset({beside.file("")}, {}).labels.defined());
}

TEST(Dataset, TheJsonFileDecidesWhereThereIsOne) {
  const Folder folder;
  put_image(folder, "00000/a.png", flat(1));
  put_image(folder, "00001/b.png", flat(2));
  const std::string json = folder.file("dataset.json");
  const auto read = [&](const std::string& text) {
    put_bytes(json, text);
    return read_dataset({folder.file("")}, {});
  };
  EXPECT_FALSE(read(R"({"labels": null})").labels.defined());
  EXPECT_FALSE(read("{}").labels.defined());
  const Dataset numbers = read(R"({"labels": [["00001/b.png", 6], ["00000/a.png", 2]]})");
  EXPECT_EQ(classes(numbers), (Numbers{2, 6}));
  EXPECT_EQ(numbers.label_dim, 7);
  const Dataset vectors =
      read(R"({"labels": [["00001/b.png", [0, 1.5]], ["00000/a.png", [-2, 1e-3]]]})");
  EXPECT_TRUE(identical(vectors.labels, at::tensor({-2.f, 1e-3f, 0.f, 1.5f}).view({2, 2})));
  EXPECT_EQ(vectors.label_dim, 2);
}

TEST(Dataset, LabelsThatDoNotFitTheImagesAreNamed) {
  const Folder folder;
  put_image(folder, "a.png", flat(1));
  put_image(folder, "b.png", flat(2));
  const std::string json = folder.file("dataset.json");
  const auto message = [&](const std::string& labels) {
    put_bytes(json, "{\"labels\": " + labels + "}");
    std::string text = error_of([&] { read_dataset({folder.file("")}, {}); });
    return text.substr(std::min(text.size(), folder.file("").size() + 16));
  };
  EXPECT_EQ(message(R"([["a.png", 1], ["c.png", 1]])"),
            "labels the image 'c.png', which is not there");
  EXPECT_EQ(message(R"([["a.png", 1]])"), "has no label for the image 'b.png'");
  EXPECT_EQ(message("[]"), "has no label for the image 'a.png'");
  EXPECT_EQ(message(R"([["a.png", 1], ["a.png", 1]])"), "labels the image 'a.png' twice");
  EXPECT_EQ(message(R"([["a.png", 1], "b.png"])"),
            "entry 1 of \"labels\" is not [\"name of the image\", label]");
  EXPECT_EQ(message(R"([["a.png", 1], ["b.png", [1]]])"),
            "the label of 'b.png' is not a class number, or not for all images");
  EXPECT_EQ(message(R"([["a.png", [1, 2]], ["b.png", [1]]])"),
            "the label of 'b.png' is not a list of 2 numbers, as that of the first image is");
  EXPECT_EQ(message(R"([["a.png", [1]], ["b.png", ["x"]]])"),
            "the label of 'b.png' holds something that is not a number");
  EXPECT_EQ(message(R"([["a.png", [1e300]], ["b.png", [1]]])"),
            "the label of 'a.png' holds 1e+300, which is beyond float32");
  EXPECT_EQ(message(R"([["a.png", -1], ["b.png", 1]])"),
            "the label of 'a.png' is -1, a class from 0 to 1048575 is wanted");
  EXPECT_EQ(message("3"), "\"labels\" is neither a list nor null");
  EXPECT_EQ(message("[,]").find("no JSON: line 1, column 13: "), 0u);
  EXPECT_EQ(message(std::string(100000, '[') + std::string(100000, ']')),
            "nests deeper than 64 levels");
}

TEST(Dataset, LabelsMuchLargerThanTheirImagesNeedAreNotRead) {
  const Folder folder;
  put_image(folder, "a.png", flat(1));
  put_bytes(folder.file("dataset.json"), "");
  std::filesystem::resize_file(folder.file("dataset.json"), (64 << 20) + 1025);
  const std::string message =
      ": dataset.json has 67109889 bytes; at most 67109888 are read for 1 images";
  EXPECT_EQ(error_of([&] { read_dataset({folder.file("")}, {}); }), folder.file("") + message);
  const std::string path = folder.file("a.zip");
  put_bytes(path,
            zipped::archive({{"dataset.json", std::string((64 << 20) + 1025, ' ')},
                             {"a.png", encode_png(flat(1), "test")}}));
  EXPECT_EQ(error_of([&] { read_dataset({path}, {}); }), path + message);
}

TEST(Dataset, AnArchiveIsReadInTheOrderOfNames) {
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

TEST(Dataset, WhatIsPackedIsReadBackToTheBit) {
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

TEST(Dataset, AThousandImagesShareAFolderOfThePack) {
  const Folder folder;
  Dataset dataset;
  dataset.images = at::zeros({1001, 1, 1, 1}, at::kByte);
  write_edm_zip(folder.file("a.zip"), dataset);
  const std::string bytes = get_bytes(folder.file("a.zip"));
  EXPECT_EQ(read_zip(bytes, "a.zip")[999].name, "00000/img00000999.png");
  EXPECT_EQ(read_zip(bytes, "a.zip")[1000].name, "00001/img00001000.png");
}

TEST(Dataset, OnlySquareImagesArePacked) {
  const Folder folder;
  Dataset dataset;
  dataset.images = at::zeros({1, 1, 4, 6}, at::kByte);
  EXPECT_EQ(error_of([&] { write_edm_zip(folder.file("a.zip"), dataset); }),
            folder.file("a.zip") + ": an EDM data set has square images, these are 6 x 4; give a " +
                "size to make them square");
  EXPECT_TRUE(folder.names().empty());
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

TEST(Dataset, SourcesAgreeOnTheirLabels) {
  const Folder folder;
  const auto source = [&](const std::string& name, const std::string& label) {
    put_image(folder, name + "/a.png", flat(1));
    if (!label.empty()) {
      put_bytes(folder.file(name + "/dataset.json"), "{\"labels\": [[\"a.png\", " + label + "]]}");
    }
    return folder.file(name);
  };
  const std::string none = source("none", ""), three = source("three", "3"),
                    five = source("five", "5"), pair = source("pair", "[1, 2]"),
                    triple = source("triple", "[1, 2, 3]");
  EXPECT_EQ(read_dataset({three, five}, {}).label_dim, 6);
  EXPECT_EQ(error_of([&] {
              read_dataset({none, three}, {});
            }),
            three + " has class numbers, but " + none + " has no labels");
  EXPECT_EQ(error_of([&] {
              read_dataset({three, pair}, {});
            }),
            pair + " has labels of 2 numbers, but " + three + " has class numbers");
  EXPECT_EQ(error_of([&] {
              read_dataset({pair, triple}, {});
            }),
            triple + " has labels of 3 numbers, but " + pair + " has labels of 2 numbers");
  EXPECT_EQ(error_of([&] { read_dataset({none, none}, {}); }), none + ": is given twice");
}

TEST(Dataset, FoldersOfOtherNamesAreOtherClasses) {
  const Folder a, b;
  for (const char* name : {"cat/1.png", "dog/1.png"}) put_image(a, name, flat(1));
  for (const char* name : {"dog/1.png", "emu/1.png"}) put_image(b, name, flat(1));
  EXPECT_EQ(error_of([&] {
              read_dataset({a.file(""), b.file("")}, {});
            }),
            b.file("") + ": its classes have other names than those of " + a.file(""));
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
