// The header of a .npy file: a Python dictionary in text, between the magic bytes and the data.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  Shape shape;
};

// Removes the header, with its magic bytes, from the front of `bytes` and returns it; `name` is for
// messages.
NpyHeader take_npy_header(std::string_view& bytes, const std::string& name);

// Returns the header in format 1.0, byte for byte as NumPy writes it: padded to a multiple of 64.
std::string format_npy_header(const NpyHeader& header);

}  // namespace eps
