// Torch checkpoints made to harm: nothing runs, and nothing grows out of proportion to the file.

#include <gtest/gtest.h>

#include "tests/io/torch/torch_bytes.h"

namespace eps {
namespace {

using namespace pickled;

// A few bytes that describe terabytes: a view that repeats one element, and one tensor in many
// names.
TEST(HostileTorchFile, RefusesTensorsOutOfProportionToTheFile) {
  const std::string one = storage_id("FloatStorage", "0", 1);
  const std::string repeated = dict({{"x", tensor(one, 0, {int64_t{1} << 40}, {0})}});
  EXPECT_NE(parse_error(torch_zip(repeated, {{"0", raw<float>({1})}}))
                .find("tensors hold over 16 times the bytes of the file"),
            std::string::npos);
  const std::vector<float> values(50000);
  std::string names = joined({"}(", text("first"), memoize(float_tensor("0", 50000), 1)});
  for (int i = 0; i < 200; ++i) names += text(std::to_string(i)) + recall(1);
  EXPECT_NE(parse_error(torch_zip(names + "u", {{"0", raw(values)}})).find("16 times"),
            std::string::npos);
}

TEST(HostileTorchFile, WalksStructuresThatContainThemselves) {
  const std::string object =
      joined({"}q\x01(", text("self"), recall(1), text("x"), float_tensor("0", 1), "u"});
  EXPECT_EQ(names_of(parse(torch_zip(object, {{"0", raw<float>({1})}}))),
            std::vector<std::string>{"x"});
  // The record of a tensor subclass whose arguments are that record again.
  const std::string type = global("torch._tensor", "_rebuild_from_type_v2");
  const std::string record =
      call(type, {type, none(), joined({"]q\x01(", type, none(), recall(1), "e"})});
  EXPECT_EQ(parse_error(torch_zip(dict({{"x", record}}), {})),
            "a.pt: tensor 'x': is wrapped more than 100 times");
}

TEST(HostileTorchFile, BoundsTheWalkOfSharedStructures) {
  std::string bytes = memoize(float_tensor("0", 1), 0);
  for (uint8_t level = 1; level <= 60; ++level) {
    Entries entries;
    for (const char* key : {"a", "b", "c", "d"}) entries.emplace_back(key, recall(level - 1));
    bytes += memoize(dict(entries), level);
  }
  EXPECT_THROW(parse(torch_zip(bytes, {{"0", raw<float>({1})}})), Error);
  // Modules that share one large set of attributes must not be searched again for each.
  std::string wide = "}q\x01(";
  for (int i = 0; i < 20000; ++i) wide += text(std::to_string(i)) + none();
  wide += "u](";
  for (int i = 0; i < 2000; ++i) wide += instance(global("m", "C"), recall(1));
  EXPECT_NE(parse_error(torch_zip(wide + "e", {})).find("steps to walk"), std::string::npos);
}

TEST(HostileTorchFile, KeepsHostileRecordsOpaque) {
  const Folder folder;
  const std::string command = joined({"touch ", folder.file("canary")});
  const std::string object =
      dict({{"x", float_tensor("0", 1)},
            {"a", call(global("os", "system"), {text(command)})},
            {"b", call(global("builtins", "eval"), {text(command)})},
            {"c",
             call(global("torch.storage", "_load_from_bytes"),
                  {bytes(whole(call(global("os", "system"), {text(command)})))})}});
  EXPECT_EQ(names_of(parse(torch_zip(object, {{"0", raw<float>({1})}}))),
            std::vector<std::string>{"x"});
  const std::string storage = call(global("torch.storage", "_load_from_bytes"),
                                   {bytes(whole(call(global("os", "system"), {text(command)})))});
  EXPECT_EQ(parse_error(whole(dict({{"x", tensor(storage, 0, {1}, {1})}}))),
            "a.pt: tensor 'x': does not begin with torch's magic number");
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace eps
