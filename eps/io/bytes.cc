// Checks of sizes before allocation, and conversion of bytes to tensors.
#include "eps/io/bytes.h"

#include <fmt/format.h>

#include <cstring>

#include "eps/base/printable.h"

namespace eps {

int64_t byte_count(const Shape& shape, int64_t item_size, const std::string& name) {
  constexpr size_t kMaxDimensions = 64;
  check(shape.size() <= kMaxDimensions,
        name,
        ": ",
        shape.size(),
        " dimensions, at most ",
        kMaxDimensions,
        " are possible");
  int64_t room = item_size;
  bool empty = false;
  for (const int64_t size : shape) {
    check(size >= 0, name, ": negative dimension in the shape ", to_string(shape));
    check(!__builtin_mul_overflow(room, std::max<int64_t>(size, 1), &room),
          name,
          ": the shape ",
          to_string(shape),
          " is too large: its size in bytes exceeds 2^63");
    empty = empty || size == 0;
  }
  return empty ? 0 : room;
}

Tensor tensor_from_bytes(std::string_view bytes, const Shape& shape, at::ScalarType dtype) {
  const bool boolean = dtype == at::kBool;
  const Tensor tensor = at::empty(shape, boolean ? at::kByte : dtype);
  check(bytes.size() == tensor.nbytes(),
        "a tensor of ",
        tensor.nbytes(),
        " bytes cannot be made from ",
        bytes.size());
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return boolean ? tensor.ne(0) : tensor;
}

std::string_view bytes_of(const Tensor& tensor) {
  check(tensor.is_cpu() && tensor.is_contiguous(), "bytes_of: a contiguous CPU tensor is wanted");
  if (tensor.numel() == 0) return {};
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

std::string quote_start(std::string_view bytes) {
  if (bytes.empty()) return "nothing: the file is empty";
  return fmt::format("\"{}\"", printable(bytes.substr(0, 8)));
}

}  // namespace eps
