// NumPy's .npy files: dtypes and data behind the header.
#include "eps/io/npy.h"

#include <algorithm>
#include <filesystem>

#include "eps/base/printable.h"
#include "eps/io/bytes.h"
#include "eps/io/file.h"
#include "eps/io/npy_header.h"

namespace eps {
namespace {

struct NumberType {
  std::string_view code;  // NumPy's code, without the byte order
  at::ScalarType stored;  // type of the bytes in the file
  at::ScalarType read;    // type of the tensor that is returned
  bool is_pair = false;   // a complex number: two in a row
};

constexpr NumberType kNumberTypes[] = {
    {"f2", at::kHalf, at::kHalf},
    {"f4", at::kFloat, at::kFloat},
    {"f8", at::kDouble, at::kDouble},
    {"i1", at::kChar, at::kChar},
    {"i2", at::kShort, at::kShort},
    {"i4", at::kInt, at::kInt},
    {"i8", at::kLong, at::kLong},
    {"u1", at::kByte, at::kByte},
    {"b1", at::kBool, at::kBool},
    // Types that libtorch lacks come last: the search for the type to write stops earlier.
    {"u2", at::kShort, at::kInt},
    {"u4", at::kInt, at::kLong},
    {"u8", at::kLong, at::kLong},
    {"c8", at::kFloat, at::kFloat, true},
    {"c16", at::kDouble, at::kDouble, true},
};

const NumberType& number_type(const std::string& descr, const std::string& name) {
  const bool ordered =
      !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string::npos;
  for (const NumberType& type : kNumberTypes) {
    if (ordered && std::string_view(descr).substr(1) == type.code) return type;
  }
  fail(name,
       ": dtype '",
       printable(descr),
       "' is not read, only f2 f4 f8, c8 c16, i1 i2 i4 i8, u1 u2 u4 u8 and b1 (no strings, objects "
       "or structures)");
}

// Reverses the bytes of every number, in place.
void swap_bytes(const Tensor& tensor) {
  auto* byte = static_cast<char*>(tensor.data_ptr());
  const auto item = static_cast<ptrdiff_t>(tensor.element_size());
  for (char* end = byte + tensor.nbytes(); byte != end; byte += item)
    std::reverse(byte, byte + item);
}

// Returns the unsigned numbers that the signed numbers in `stored` represent.
Tensor widen(const Tensor& stored, const NumberType& type, const std::string& name) {
  if (type.code == "u2") return stored.to(type.read).bitwise_and(0xffff);
  if (type.code == "u4") return stored.to(type.read).bitwise_and(int64_t{0xffffffff});
  if (type.code == "u8") {
    const int64_t beyond = stored.lt(0).sum().item<int64_t>();
    check(beyond == 0, name, ": 'u8' numbers beyond int64 (2^63 - 1), ", beyond, " of them");
  }
  return stored;
}

NpyHeader header_for(at::ScalarType dtype, const Shape& shape, const std::string& path) {
  const NumberType* type = std::find_if(
      std::begin(kNumberTypes), std::end(kNumberTypes), [&](const NumberType& candidate) {
        return candidate.read == dtype;
      });
  check(type != std::end(kNumberTypes),
        path,
        ": a .npy file cannot hold the dtype ",
        at::toString(dtype),
        ", convert it first");
  const char order = at::elementSize(dtype) == 1 ? '|' : '<';
  return {order + std::string(type->code), false, shape};
}

}  // namespace

Tensor parse_npy(std::string_view bytes, const std::string& name) {
  const NpyHeader header = take_npy_header(bytes, name);
  const NumberType& type = number_type(header.descr, name);
  const auto item_size = static_cast<int64_t>(at::elementSize(type.stored));
  const int64_t wanted = byte_count(header.shape, item_size * (type.is_pair ? 2 : 1), name);
  check(static_cast<uint64_t>(wanted) == bytes.size(),
        name,
        ": '",
        header.descr,
        "' array of shape ",
        to_string(header.shape),
        ": expected ",
        wanted,
        " bytes of data, found ",
        bytes.size());
  // Fortran order is the transposed array in C order.
  Shape shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  if (type.is_pair) shape.push_back(2);
  Tensor tensor = tensor_from_bytes(bytes, shape, type.stored);
  if (header.descr[0] == '>') swap_bytes(tensor);
  if (header.fortran_order) {
    Shape reversed;
    for (size_t i = header.shape.size(); i-- > 0;) reversed.push_back(static_cast<int64_t>(i));
    if (type.is_pair) reversed.push_back(static_cast<int64_t>(header.shape.size()));
    tensor = tensor.permute(reversed).contiguous();
  }
  return widen(tensor, type, name);
}

Tensor read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

void write_npy(const std::string& path, const Tensor& tensor) {
  check(tensor.defined(), path, ": there is no tensor to write");
  NpyWriter writer(path, tensor.scalar_type(), tensor.sizes().vec());
  writer.append(tensor);
  writer.finish();
}

NpyWriter::NpyWriter(const std::string& path, at::ScalarType dtype, const Shape& shape)
    : path_(path), dtype_(dtype), count_(c10::multiply_integers(shape)), file_(path) {
  file_.write(format_npy_header(header_for(dtype, shape, path)));
}

void NpyWriter::append(const Tensor& part) {
  written_ += part.numel();
  check(written_ <= count_, path_, ": ", written_, " numbers for an array of ", count_);
  file_.write(bytes_of(part.detach().to(at::kCPU, dtype_).contiguous()));
}

void NpyWriter::finish() {
  check(written_ == count_, path_, ": ", written_, " numbers for an array of ", count_);
  file_.commit();
}

Tensor map_npy(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  check(!error, path, ": cannot be read: ", error.message());
  if (size == 0) return read_npy(path);  // throws the reason
  const Tensor file = at::from_file(path, false, static_cast<int64_t>(size), at::kByte);
  std::string_view bytes(static_cast<const char*>(file.data_ptr()), size);
  const NpyHeader header = take_npy_header(bytes, path);
  const NumberType& type = number_type(header.descr, path);
  const auto begin = static_cast<int64_t>(size - bytes.size());
  const auto item = static_cast<int64_t>(at::elementSize(type.stored));
  const bool plain = !header.fortran_order && header.descr[0] != '>' && !type.is_pair &&
                     type.stored == type.read && type.stored != at::kBool && begin % item == 0 &&
                     byte_count(header.shape, item, path) == static_cast<int64_t>(bytes.size());
  if (!plain || bytes.empty()) return read_npy(path);
  return file.slice(0, begin).view(type.stored).view(header.shape);
}

}  // namespace eps
