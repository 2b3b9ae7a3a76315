// Labels of data sets: names of folders, dataset.json, agreement of several sources.
#include "tests/data/image_files.h"
#include "tests/io/zip_bytes.h"

namespace eps {
namespace {

TEST(Labels, FoldersAreClassesOnlyWhereAllImagesLieInSeveral) {
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

TEST(Labels, TheJsonFileDecidesWhereThereIsOne) {
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

TEST(Labels, LabelsThatDoNotFitTheImagesAreNamed) {
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

TEST(Labels, LabelsMuchLargerThanTheirImagesNeedAreNotRead) {
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

TEST(Labels, SourcesAgreeOnTheirLabels) {
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

TEST(Labels, FoldersOfOtherNamesAreOtherClasses) {
  const Folder a, b;
  for (const char* name : {"cat/1.png", "dog/1.png"}) put_image(a, name, flat(1));
  for (const char* name : {"dog/1.png", "emu/1.png"}) put_image(b, name, flat(1));
  EXPECT_EQ(error_of([&] {
              read_dataset({a.file(""), b.file("")}, {});
            }),
            b.file("") + ": its classes have other names than those of " + a.file(""));
}

}  // namespace
}  // namespace eps
