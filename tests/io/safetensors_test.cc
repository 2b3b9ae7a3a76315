// .safetensors files: known bytes, round trips, and every way to be malformed.
#include "eps/io/safetensors.h"

#include "tests/files.h"

namespace eps {
namespace {

std::string safetensors(const std::string& header, const std::string& data = "") {
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> 8 * i);
  return length + header + data;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

std::string one(const std::string& dtype,
                const std::string& shape,
                const std::string& offsets,
                size_t bytes) {
  return safetensors("{\"a\":" + entry(dtype, shape, offsets) + "}", std::string(bytes, '\0'));
}

TEST(Safetensors, RoundTripsEveryDtypeAndShape) {
  const Folder folder;
  Safetensors file;
  for (const auto dtype : {at::kDouble,
                           at::kFloat,
                           at::kHalf,
                           at::kBFloat16,
                           at::kLong,
                           at::kInt,
                           at::kShort,
                           at::kChar,
                           at::kByte,
                           at::kBool}) {
    const std::string name = at::toString(dtype);
    file.tensors[name] = at::arange(12, at::kLong).reshape({3, 4}).to(dtype);
    file.tensors[name + ".turned"] = file.tensors[name].t();
    file.tensors[name + ".scalar"] = at::ones({}, dtype);
    file.tensors[name + ".empty"] = at::ones({2, 0}, dtype);
  }
  file.metadata = {{"format", "pt"}, {"note", "line\n\"quoted\" \xc3\xa9"}};
  write_safetensors(folder.file("a.safetensors"), file);
  const Safetensors read = read_safetensors(folder.file("a.safetensors"));
  EXPECT_EQ(read.metadata, file.metadata);
  ASSERT_EQ(read.tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_TRUE(identical(read.tensors.at(name), tensor.contiguous())) << name;
  }
}

TEST(Safetensors, WritesKnownBytes) {
  const Folder folder;
  const Tensor bytes = at::tensor({1, 2, 3}, at::kByte);
  write_safetensors(folder.file("a"), {{{"b", bytes}, {"w", at::tensor({1.5f})}}, {{"k", "v"}}});
  // The floats come first, so that they are aligned; the header is filled up with spaces.
  std::string header = R"({"__metadata__":{"k":"v"},"b":{"data_offsets":[4,7],"dtype":"U8",)"
                       R"("shape":[3]},"w":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(get_bytes(folder.file("a")), safetensors(header, std::string("\0\0\xc0\x3f\1\2\3", 7)));
}

TEST(Safetensors, AFileWithoutTensorsIsRead) {
  EXPECT_TRUE(parse_safetensors(safetensors("{}"), "a").tensors.empty());
}

TEST(Safetensors, ReadsKnownBytes) {
  const std::string header = "{\"x\": " + entry("I16", "[2]", "[1, 5]") +
                             ", \"y\": " + entry("BOOL", "[]", "[0, 1]") + "}  ";
  const auto tensors =
      parse_safetensors(safetensors(header, std::string("\5\2\1\xff\xff", 5)), "a").tensors;
  EXPECT_TRUE(identical(tensors.at("x"), at::tensor({258, -1}, at::kShort)));
  EXPECT_TRUE(identical(tensors.at("y"), at::scalar_tensor(true, at::kBool)));
}

struct MalformedHeader {
  const char* what;
  std::string bytes, message;
};

class MalformedSafetensors : public ::testing::TestWithParam<MalformedHeader> {};

TEST_P(MalformedSafetensors, IsRefusedWithItsNumbers) {
  EXPECT_EQ(error_of([] { parse_safetensors(GetParam().bytes, "f"); }), "f: " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors,
    MalformedSafetensors,
    ::testing::Values(
        MalformedHeader{
            "Short", "1234567", "not a .safetensors file: expected at least 8 bytes, found 7"},
        MalformedHeader{
            "HeaderBehindFile",
            "12345678{}",
            "not a .safetensors file, or truncated: expected 4050765991979987505 bytes of "
            "header, found 2"},
        MalformedHeader{
            "NotAnObject", safetensors("[]"), "the header must be a JSON object, got array"},
        MalformedHeader{"Nested",
                        safetensors("{\"a\":{\"b\":[[1]]}}"),
                        "JSON header: nests deeper than 3 levels"},
        MalformedHeader{
            "NameTwice", safetensors("{\"a\":{},\"a\":{}}"), "JSON header: 'a' appears twice"},
        MalformedHeader{"FieldTwice",
                        safetensors("{\"a\":{\"dtype\":1,\"dtype\":2}}"),
                        "JSON header: 'dtype' appears twice"},
        MalformedHeader{"EntryNotAnObject",
                        safetensors("{\"a\":3}"),
                        "tensor 'a': must be a JSON object, got number"},
        MalformedHeader{"FieldMissing",
                        safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}"),
                        "tensor 'a': 'data_offsets' is missing"},
        MalformedHeader{"MetadataNotText",
                        safetensors("{\"__metadata__\":{\"k\":1}}"),
                        "metadata 'k' must be a string, got number"},
        MalformedHeader{"MetadataNotAnObject",
                        safetensors("{\"__metadata__\":1}"),
                        "'__metadata__' must be a JSON object, got number"},
        MalformedHeader{
            "Dtype",
            one("F8_E4M3", "[]", "[0,1]", 1),
            "tensor 'a': dtype 'F8_E4M3' is not one of F64 F32 F16 BF16 I64 I32 I16 I8 U8 "
            "BOOL"},
        MalformedHeader{"Negative",
                        one("U8", "[-1,-1]", "[0,1]", 1),
                        "tensor 'a': 'shape' must hold whole numbers from 0 to 2^63 - 1, got -1"},
        MalformedHeader{"Fraction",
                        one("U8", "[1.5]", "[0,1]", 1),
                        "tensor 'a': 'shape' must hold whole numbers from 0 to 2^63 - 1, got 1.5"},
        MalformedHeader{"Unsigned64",
                        one("U8", "[18446744073709551615]", "[0,1]", 1),
                        "tensor 'a': 'shape' must hold whole numbers from 0 to 2^63 - 1, got "
                        "18446744073709551615"},
        MalformedHeader{"ShapeNotAnArray",
                        one("U8", "1", "[0,1]", 1),
                        "tensor 'a': 'shape' must be an array, got number"},
        MalformedHeader{
            "Overflow",
            one("F64", "[4294967296,4294967296]", "[0,8]", 8),
            "tensor 'a': the shape 4294967296 x 4294967296 is too large: its size in bytes "
            "exceeds 2^63"},
        MalformedHeader{"ThreeOffsets",
                        one("U8", "[1]", "[0,1,2]", 2),
                        "tensor 'a': 'data_offsets' must hold 2 numbers, got 3"},
        MalformedHeader{"Outside",
                        one("U8", "[9]", "[0,9]", 8),
                        "tensor 'a': bytes 0 to 9 are not inside the 8 bytes of data"},
        MalformedHeader{"Backwards",
                        one("U8", "[1]", "[1,0]", 8),
                        "tensor 'a': bytes 1 to 0 are not inside the 8 bytes of data"},
        MalformedHeader{"SizeAndShape",
                        one("F32", "[2,2]", "[0,8]", 8),
                        "tensor 'a': shape 2 x 2: expected 16 bytes, found 8"},
        MalformedHeader{
            "Trailing", one("U8", "[2]", "[0,2]", 3), "expected 2 bytes of data, found 3"},
        MalformedHeader{
            "Gap", one("U8", "[2]", "[1,3]", 3), "bytes 0 to 1 of the data belong to no tensor"},
        MalformedHeader{
            "Overlap",
            safetensors("{\"a\":" + entry("U8", "[3]", "[0,3]") +
                            ",\"b\":" + entry("U8", "[2]", "[2,4]") + "}",
                        "1234"),
            "tensor 'b' begins at byte 2 and overlaps the one before it, which ends at 3"}),
    [](const auto& info) { return info.param.what; });

TEST(Safetensors, AHeaderThatIsNotJsonIsRefused) {
  for (const char* header : {"", "{", "{\"a\":}", "{} x", "{\"\xff\":1}"}) {
    const std::string message = error_of([&] { parse_safetensors(safetensors(header), "f"); });
    EXPECT_TRUE(message.starts_with("f: JSON header: no JSON: ")) << message;
    EXPECT_EQ(message.find('\n'), message.npos);
  }
}

TEST(Safetensors, DeepNestingIsRefusedAtOnce) {
  const std::string deep = "{\"a\":" + std::string(1000000, '[');
  EXPECT_EQ(error_of([&] { parse_safetensors(safetensors(deep), "f"); }),
            "f: JSON header: nests deeper than 3 levels");
}

TEST(Safetensors, WhatTheFormatCannotHoldIsRefused) {
  const Folder folder;
  const auto written = [&folder](const std::string& name, const Tensor& tensor) {
    return error_of([&] { write_safetensors(folder.file("f"), {{{name, tensor}}, {}}); });
  };
  const std::string path = folder.file("f");
  EXPECT_EQ(written("a", at::zeros({1}, at::kComplexFloat)),
            path +
                ": tensor 'a': a .safetensors file cannot hold the dtype ComplexFloat, convert it "
                "first");
  EXPECT_EQ(written("a", Tensor()), path + ": tensor 'a': there is no tensor to write");
  EXPECT_EQ(written("__metadata__", at::zeros({1})),
            path + ": tensor '__metadata__': this name is reserved");
  EXPECT_TRUE(
      written("\xff", at::zeros({1})).starts_with(path + ": a tensor name or metadata text"));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace eps
