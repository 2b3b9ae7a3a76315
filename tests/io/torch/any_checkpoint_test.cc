// Checkpoints of any kind, one by one and several in one.
#include "eps/io/torch/any_checkpoint.h"

#include "tests/io/torch/torch_bytes.h"

namespace eps {
namespace {

using namespace pickled;

// A torch file of one tensor of one number.
std::string torch_file(const std::string& name, float value) {
  return torch_zip(dict({{name, float_tensor("0", 1)}, {"epoch", integer(3)}}),
                   {{"0", raw<float>({value})}});
}

TEST(AnyCheckpoint, IsKnownByItsContentNotItsName) {
  const Folder folder;
  put_bytes(folder.file("a"), torch_file("w", 1.5));
  write_safetensors(folder.file("b"), {{{"v", floats({2}, {1})}}, {{"note", "kept"}}});
  const Safetensors a = read_any_checkpoint(folder.file("a"));
  EXPECT_TRUE(identical(a.tensors.at("w"), floats({1.5}, {1})));
  EXPECT_EQ(a.metadata.at("source"), "torch-zip");
  const Safetensors b = read_any_checkpoint(folder.file("b"));
  EXPECT_TRUE(identical(b.tensors.at("v"), floats({2}, {1})));
  EXPECT_EQ(b.metadata.at("source"), "safetensors");
}

TEST(AnyCheckpoint, OfSeveralFilesHasTheTensorsOfAll) {
  const Folder folder;
  put_bytes(folder.file("a"), torch_file("w", 1.5));
  write_safetensors(folder.file("b"), {{{"v", floats({2}, {1})}}, {{"note", "kept"}}});
  const Safetensors both = read_any_checkpoints({folder.file("a"), folder.file("b")});
  ASSERT_EQ(both.tensors.size(), 2u);
  EXPECT_TRUE(identical(both.tensors.at("w"), floats({1.5}, {1})));
  EXPECT_TRUE(identical(both.tensors.at("v"), floats({2}, {1})));
  const std::map<std::string, std::string> metadata = {
      {"config", R"({"epoch":3})"}, {"note", "kept"}, {"source", "torch-zip"}};
  EXPECT_EQ(both.metadata, metadata);
  const Safetensors one = read_any_checkpoints({folder.file("b")});
  EXPECT_EQ(one.metadata, read_any_checkpoint(folder.file("b")).metadata);
}

TEST(AnyCheckpoint, OfSeveralFilesHasNoNameTwice) {
  const Folder folder;
  const std::string a = folder.file("a"), b = folder.file("b"), c = folder.file("c");
  put_bytes(a, torch_file("w", 1));
  put_bytes(b, torch_file("v", 2));
  put_bytes(c, torch_file("w", 1));
  EXPECT_EQ(error_of([&] {
              read_any_checkpoints({a, b, c});
            }),
            "tensor 'w' is both in " + a + " and in " + c);
}

}  // namespace
}  // namespace eps
