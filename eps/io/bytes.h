// Checks of sizes before allocation, and conversion of bytes to tensors, for the readers of arrays.
#pragma once

#include <bit>

#include "eps/base/core.h"

namespace eps {

static_assert(std::endian::native == std::endian::little,
              "eps reads and writes little-endian files without swapping");

// Returns the bytes of an array. Throws an Error with `name` for a negative dimension, for more
// dimensions than libtorch allows and for a product beyond int64 (empty dimensions counted as 1:
// strides must fit).
int64_t byte_count(const Shape& shape, int64_t item_size, const std::string& name);

// Returns a new contiguous tensor; bytes.size() must equal byte_count(). Booleans become 0 or 1.
Tensor tensor_from_bytes(std::string_view bytes, const Shape& shape, at::ScalarType dtype);

// Returns the memory of a contiguous tensor on the CPU, valid as long as the tensor.
std::string_view bytes_of(const Tensor& tensor);

// Returns the beginning of a file of the wrong kind, for messages: "GIF89a\x01\x00".
std::string quote_start(std::string_view bytes);

}  // namespace eps
