// eps convert, as a user calls it.
#include <nlohmann/json.hpp>

#include "eps/io/safetensors.h"
#include "tests/io/torch/torch_bytes.h"
#include "tests/program.h"

namespace eps {
namespace {

using namespace pickled;
using nlohmann::json;

Outcome eps_convert(const std::string& arguments) {
  return run_program(EPS_PROGRAM, "convert " + arguments);
}

// A checkpoint of two tensors, one of them a view of half precision, and an epoch.
std::string checkpoint() {
  const std::string half = tensor(storage_id("HalfStorage", "1", 2), 1, {1}, {1});
  return torch_zip(dict({{"state_dict", dict({{"w", float_tensor("0", 2)}, {"h", half}})},
                         {"epoch", integer(3)}}),
                   {{"0", raw<float>({1.5, -2})}, {"1", raw<uint16_t>({0x3c00, 0x4000})}});
}

TEST(Convert, WritesTensorsAndMetadata) {
  const Folder folder;
  put_bytes(folder.file("a.pt"), checkpoint());
  const Outcome outcome = eps_convert(folder.file("a.pt") + " " + folder.file("b.safetensors"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "");
  const Safetensors written = read_safetensors(folder.file("b.safetensors"));
  ASSERT_EQ(written.tensors.size(), 2u);
  EXPECT_TRUE(identical(written.tensors.at("state_dict.w"), floats({1.5, -2}, {2})));
  EXPECT_TRUE(identical(written.tensors.at("state_dict.h"), floats({2}, {1}).to(at::kHalf)));
  EXPECT_EQ(written.metadata.at("source"), "torch-zip");
  EXPECT_EQ(written.metadata.at("config"), R"({"epoch":3})");

  // A second conversion changes nothing.
  eps_convert(folder.file("b.safetensors") + " " + folder.file("c.safetensors"));
  EXPECT_EQ(get_bytes(folder.file("c.safetensors")), get_bytes(folder.file("b.safetensors")));
}

// A trunk and the weights of its layers, as LPIPS's parts are published.
TEST(Convert, PutsSeveralFilesIntoOne) {
  const Folder folder;
  const auto one = [](const std::string& name, float value) {
    return torch_zip(dict({{name, float_tensor("0", 1)}}), {{"0", raw<float>({value})}});
  };
  put_bytes(folder.file("a.pth"), one("features.0.weight", 1));
  put_bytes(folder.file("b.pth"), one("lin0.model.1.weight", 2));
  const std::string both = folder.file("a.pth") + " " + folder.file("b.pth") + " ";
  const Outcome outcome = eps_convert(both + folder.file("c.safetensors"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const Safetensors written = read_safetensors(folder.file("c.safetensors"));
  ASSERT_EQ(written.tensors.size(), 2u);
  EXPECT_TRUE(identical(written.tensors.at("features.0.weight"), floats({1}, {1})));
  EXPECT_TRUE(identical(written.tensors.at("lin0.model.1.weight"), floats({2}, {1})));

  const Outcome again =
      eps_convert(both + folder.file("c.safetensors") + " " + folder.file("d.safetensors"));
  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(again.output,
            "eps: tensor 'features.0.weight' is both in " + folder.file("a.pth") + " and in " +
                folder.file("c.safetensors") + "\n");
  EXPECT_EQ(folder.names().size(), 3u);
}

TEST(Convert, StoresNumbersInAnotherType) {
  const Folder folder;
  put_bytes(folder.file("a.pt"), checkpoint());
  const auto types = [&](const std::string& dtype) {
    const Outcome outcome =
        eps_convert(folder.file("a.pt") + " " + folder.file("b.safetensors") + " --dtype " + dtype);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const Safetensors written = read_safetensors(folder.file("b.safetensors"));
    EXPECT_TRUE(written.tensors.at("state_dict.w").to(at::kFloat).equal(floats({1.5, -2}, {2})));
    return std::pair(written.tensors.at("state_dict.w").scalar_type(),
                     written.tensors.at("state_dict.h").scalar_type());
  };
  EXPECT_EQ(types("float16"), std::pair(at::kHalf, at::kHalf));
  EXPECT_EQ(types("bfloat16"), std::pair(at::kBFloat16, at::kBFloat16));
  EXPECT_EQ(types("float32"), std::pair(at::kFloat, at::kFloat));
}

TEST(Convert, ShowsWhatACheckpointHolds) {
  const Folder folder;
  put_bytes(folder.file("a.pt"), checkpoint());
  EXPECT_EQ(eps_convert("--show " + folder.file("a.pt")).output,
            "state_dict.h  float16   1\n"
            "state_dict.w  float32   2\n"
            "2 tensors, 3 elements, 10 bytes\n"
            "config: {\n  \"epoch\": 3\n}\n"
            "source: torch-zip\n");
  const json shown = json::parse(eps_convert("--show --json " + folder.file("a.pt")).output);
  EXPECT_EQ(shown["tensors"][1],
            (json{{"name", "state_dict.w"}, {"dtype", "float32"}, {"shape", {2}}}));
  EXPECT_EQ(shown["metadata"], (json{{"config", {{"epoch", 3}}}, {"source", "torch-zip"}}));
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(Convert, ShowsHostileTextHarmlessly) {
  const Folder folder;
  put_bytes(folder.file("a.pt"),
            torch_zip(dict({{"\x1b[2J\n", float_tensor("0", 1)}, {"\x1b]0;", text("\x1b[31m")}}),
                      {{"0", raw<float>({1})}}));
  std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  write_safetensors(folder.file("b.safetensors"), {{}, {{"config", deep}}});
  for (const std::string& file : {folder.file("a.pt"), folder.file("b.safetensors")}) {
    for (const char* options : {"--show ", "--show --json "}) {
      const Outcome outcome = eps_convert(options + file);
      EXPECT_EQ(outcome.status, 0) << outcome.output;
      EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos);
    }
  }
}

TEST(Convert, RefusesOptionsBeforeReading) {
  const Folder folder;
  put_bytes(folder.file("a.pt"), "no checkpoint");
  const std::string in = folder.file("a.pt");
  const auto error = [](const std::string& arguments) {
    const Outcome outcome = eps_convert(arguments);
    EXPECT_EQ(outcome.status, 2);
    return outcome.output;
  };
  EXPECT_EQ(error(in), "eps: convert: the file to write is missing: eps convert IN... OUT\n");
  EXPECT_EQ(error(in + " b.pt"),
            "eps: convert: b.pt: the name of the file to write must end in .safetensors\n");
  EXPECT_EQ(error(in + " /nowhere/b.safetensors"),
            "eps: /nowhere/b.safetensors: there is no folder /nowhere\n");
  EXPECT_EQ(error(in + " b.safetensors --json"), "eps: convert: --json needs --show\n");
  EXPECT_EQ(error(in + " b.safetensors --show"),
            "eps: convert: --show takes one file and writes none, got 2\n");
  EXPECT_EQ(error(in + " --show --dtype float16"),
            "eps: convert: --dtype is for a file to write, and --show writes none\n");
  EXPECT_EQ(error(in + " " + folder.file("none.pt") + " b.safetensors"),
            "eps: " + folder.file("none.pt") + ": no such file\n");
  EXPECT_NE(error(in + " b.safetensors --dtype int8").find("--dtype"), std::string::npos);
  EXPECT_NE(error(folder.file("none.pt") + " b.safetensors").find("none.pt"), std::string::npos);
}

TEST(Convert, LeavesNothingBehindWhenItFails) {
  const Folder folder;
  put_bytes(folder.file("a.pt"), checkpoint().substr(0, 300));
  const Outcome outcome = eps_convert(folder.file("a.pt") + " " + folder.file("b.safetensors"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output,
            "eps: " + folder.file("a.pt") +
                ": no end of ZIP directory; the file is cut short or not a ZIP archive\n");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.pt"});
}

}  // namespace
}  // namespace eps
