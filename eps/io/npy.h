// numpy's .npy files: one array each.
//
// Read: format 1.0, 2.0 and 3.0; C and Fortran order; either byte order; f2 f4 f8, i1 i2 i4 i8, u1,
// b1, and u2 u4 u8 as the next wider signed type (u8 only when every value fits int64).
// Written: format 1.0, C order, little-endian, the tensor's own dtype.
#pragma once

#include "eps/io/file.h"

namespace eps {

Tensor read_npy(const std::string& path);
void write_npy(const std::string& path, const Tensor& tensor);

// The array without reading it: its pages come from the file when they are looked at. For arrays
// that write_npy() or NpyWriter wrote; any other is read.
Tensor map_npy(const std::string& path);

// An array written piece by piece, in C order. The file is there, whole, after finish().
class NpyWriter {
 public:
  NpyWriter(const std::string& path, at::ScalarType dtype, const Shape& shape);
  void append(const Tensor& part);  // the numbers that come next
  void finish();

 private:
  const std::string path_;
  const at::ScalarType dtype_;
  const int64_t count_;
  int64_t written_ = 0;
  AtomicFile file_;
};

// The array in the bytes of a file; `name` is for messages. No memory is taken for the array before
// its size has been compared with the bytes that are there.
Tensor parse_npy(std::string_view bytes, const std::string& name);

}  // namespace eps
