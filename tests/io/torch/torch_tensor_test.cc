// Tensors and storages of torch checkpoints: every element type and record, and views kept inside.

#include <gtest/gtest.h>

#include "tests/io/torch/torch_bytes.h"

namespace eps {
namespace {

using namespace pickled;

TEST(TorchTensor, ReadsEveryElementType) {
  const std::vector<std::tuple<std::string, at::ScalarType, std::string>> cases = {
      {"FloatStorage", at::kFloat, raw<float>({2})},
      {"DoubleStorage", at::kDouble, raw<double>({2})},
      {"HalfStorage", at::kHalf, raw<uint16_t>({0x4000})},
      {"BFloat16Storage", at::kBFloat16, raw<uint16_t>({0x4000})},
      {"LongStorage", at::kLong, raw<int64_t>({2})},
      {"IntStorage", at::kInt, raw<int32_t>({2})},
      {"ShortStorage", at::kShort, raw<int16_t>({2})},
      {"CharStorage", at::kChar, raw<int8_t>({2})},
      {"ByteStorage", at::kByte, raw<uint8_t>({2})},
      {"BoolStorage", at::kBool, raw<uint8_t>({2})},
  };
  for (const auto& [type, dtype, data] : cases) {
    const TorchFile file =
        parse(torch_zip(dict({{"x", tensor(storage_id(type, "0", 1), 0, {}, {})}}), {{"0", data}}));
    const int value = dtype == at::kBool ? 1 : 2;
    EXPECT_TRUE(identical(file.tensors.at("x"), at::scalar_tensor(value, dtype))) << type;
  }
}

TEST(TorchTensor, ReadsUntypedStorages) {
  const std::string id = tuple({text("storage"),
                                global("torch.storage", "UntypedStorage"),
                                text("0"),
                                text("cpu"),
                                integer(8)}) +
                         "Q";
  const std::string typed = call(global("torch._utils", "_rebuild_tensor_v3"),
                                 {id,
                                  integer(0),
                                  integers({2}),
                                  integers({1}),
                                  flag(false),
                                  ordered_dict({}),
                                  global("torch", "float32"),
                                  dict({})});
  const TorchFile file = parse(torch_zip(dict({{"x", typed}, {"bytes", tensor(id, 0, {8}, {1})}}),
                                         {{"0", raw<float>({1, 2})}}));
  EXPECT_TRUE(identical(file.tensors.at("x"), floats({1, 2}, {2})));
  EXPECT_EQ(file.tensors.at("bytes").sum().item<int64_t>(), 0x80 + 0x3f + 0x40);
}

TEST(TorchTensor, ReadsTheOtherRecordsOfDenseTensors) {
  const std::string storage = storage_id("FloatStorage", "0", 2);
  const std::string first = call(global("torch._utils", "_rebuild_tensor"),
                                 {storage, integer(0), integers({2}), integers({1})});
  const std::string with_state = call(global("torch._utils", "_rebuild_parameter_with_state"),
                                      {first, flag(true), ordered_dict({}), dict({})});
  const std::string subclass = call(global("torch._tensor", "_rebuild_from_type_v2"),
                                    {global("torch._utils", "_rebuild_tensor"),
                                     global("nets", "MyTensor"),
                                     tuple({storage, integer(0), integers({2}), integers({1})}),
                                     dict({})});
  const TorchFile file = parse(torch_zip(dict({{"a", first}, {"b", with_state}, {"c", subclass}}),
                                         {{"0", raw<float>({1, 2})}}));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(identical(file.tensors.at(name), floats({1, 2}, {2}))) << name;
  }
}

TEST(TorchTensor, ViewsOfOneStorageShareIt) {
  const std::string storage = storage_id("FloatStorage", "0", 4);
  const TorchFile file = parse(torch_zip(dict({{"whole", tensor(storage, 0, {2, 2}, {2, 1})},
                                               {"transposed", tensor(storage, 0, {2, 2}, {1, 2})},
                                               {"tail", tensor(storage, 3, {1}, {1})},
                                               {"none", tensor(storage, 0, {0, 5}, {5, 1})}}),
                                         {{"0", raw<float>({1, 2, 3, 4})}}));
  EXPECT_TRUE(identical(file.tensors.at("transposed"), floats({1, 3, 2, 4}, {2, 2})));
  EXPECT_TRUE(identical(file.tensors.at("tail"), floats({4}, {1})));
  EXPECT_EQ(file.tensors.at("none").sizes(), (Shape{0, 5}));
  EXPECT_EQ(file.tensors.at("whole").data_ptr(), file.tensors.at("transposed").data_ptr());
}

TEST(TorchTensor, RefusesViewsThatLeaveTheirStorage) {
  const auto error = [](int64_t offset, const Shape& size, const Shape& stride) {
    const std::string view = tensor(storage_id("FloatStorage", "0", 4), offset, size, stride);
    return parse_error(torch_zip(dict({{"x", view}}), {{"0", raw<float>({1, 2, 3, 4})}}));
  };
  EXPECT_EQ(error(0, {5}, {1}),
            "a.pt: tensor 'x': from element 0 it reaches 4 further, past its storage of 4");
  const int64_t huge = std::numeric_limits<int64_t>::max();
  for (const auto& [offset, size, stride] : std::vector<std::tuple<int64_t, Shape, Shape>>{
           {1, {4}, {1}},
           {0, {2}, {4}},
           {4, {1}, {1}},
           {-1, {1}, {1}},
           {0, {-1}, {1}},
           {0, {2}, {-1}},
           {huge, {1}, {1}},
           {1, {2}, {huge}},
           {0, {2, 2}, {huge, huge}},
           {0, {huge, huge}, {0, 0}},
           {0, {huge, huge, 0}, {0, 0, 0}},
           {0, {2}, {}},
           {0, Shape(65, 1), Shape(65, 1)},
       }) {
    EXPECT_NE(error(offset, size, stride).find("a.pt: tensor 'x': "), std::string::npos);
  }
}

TEST(TorchTensor, RefusesStoragesSmallerThanDeclared) {
  EXPECT_EQ(parse_error(torch_zip(dict({{"x", float_tensor("0", 5)}}), {{"0", raw<float>({1})}})),
            "a.pt: tensor 'x': its storage '0' declares 5 elements of 4 bytes but has 4 bytes");
  EXPECT_EQ(parse_error(torch_zip(dict({{"x", float_tensor("9", 1)}}), {{"0", raw<float>({1})}})),
            "a.pt: tensor 'x': its storage '9' is not in the file");
  const std::string object = dict({{"x", float_tensor("0", 1)}});
  EXPECT_EQ(parse_error(legacy(object, {{"0", uint64_t{1} << 62, raw<float>({1})}})),
            "a.pt: storage '0' declares 4611686018427387904 elements, past the end");
}

TEST(TorchTensor, NamesTensorsThatAreNotDenseArrays) {
  for (const char* function :
       {"_rebuild_sparse_tensor", "_rebuild_qtensor", "_rebuild_meta_tensor_no_storage"}) {
    const std::string record = call(global("torch._utils", function), {none()});
    EXPECT_EQ(parse_error(torch_zip(dict({{"a", dict({{"x", record}})}}), {})),
              std::string("a.pt: tensor 'a.x': is stored by 'torch._utils.") + function +
                  "'; only dense tensors are read");
  }
  const std::string complex = tensor(storage_id("ComplexFloatStorage", "0", 1), 0, {1}, {1});
  EXPECT_EQ(parse_error(torch_zip(dict({{"x", complex}}), {{"0", "12345678"}})),
            "a.pt: tensor 'x': storage class 'torch.ComplexFloatStorage' is not read");
}

}  // namespace
}  // namespace eps
