// What the readers of array files share: sizes checked before memory is taken, bytes to tensors.
#pragma once

#include <bit>

#include "eps/base/core.h"
#include "eps/base/printable.h"

namespace eps {

static_assert(std::endian::native == std::endian::little,
              "eps reads and writes little-endian files without swapping");

// Bytes of an array. Error, naming `name`, for a negative dimension, for more dimensions than
// libtorch takes and for a product beyond int64 (empty dimensions counted as 1: strides must fit).
int64_t byte_count(const Shape& shape, int64_t item_size, const std::string& name);

// A new contiguous tensor; bytes.size() must be what byte_count() says. Booleans become 0 or 1.
Tensor tensor_from_bytes(std::string_view bytes, const Shape& shape, at::ScalarType dtype);

// The memory of a contiguous tensor on the CPU, valid as long as the tensor.
std::string_view bytes_of(const Tensor& tensor);

// The beginning of a file of the wrong kind, for messages: "GIF89a\x01\x00".
std::string quote_start(std::string_view bytes);

}  // namespace eps
