// NumPy's .npy files: one array each.
//
// Read: format 1.0, 2.0 and 3.0; C and Fortran order; either byte order; f2 f4 f8, i1 i2 i4 i8, u1,
// b1, u2 u4 u8 as the next wider signed type (u8 only when every value fits int64), and c8 c16 as
// pairs: a last dimension of 2, the real and the imaginary part.
// Written: format 1.0, C order, little-endian, the tensor's own dtype.
#pragma once

#include "eps/io/file.h"

namespace eps {

Tensor read_npy(const std::string& path);
void write_npy(const std::string& path, const Tensor& tensor);

// Maps the array into memory: its pages are read from the file on access. Arrays whose bytes cannot
// serve as a tensor (unlike those of write_npy() and NpyWriter) are read instead.
Tensor map_npy(const std::string& path);

// An `NpyWriter` writes an array piece by piece, in C order. finish() makes the complete file
// appear.
class NpyWriter {
 public:
  NpyWriter(const std::string& path, at::ScalarType dtype, const Shape& shape);
  void append(const Tensor& part);  // writes the next numbers
  void finish();

 private:
  const std::string path_;
  const at::ScalarType dtype_;
  const int64_t count_;
  int64_t written_ = 0;
  AtomicFile file_;
};

// Returns the array in the bytes of a file; `name` is for messages. The size of the array is
// compared with the bytes before any memory is allocated.
Tensor parse_npy(std::string_view bytes, const std::string& name);

}  // namespace eps
