// Numbers of the ZIP format that the reader and the writer share (PKWARE's APPNOTE 6.3).
#pragma once

#include <cstdint>

namespace eps::zip_format {

inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kZip64Extra = 1;
// These values in a 16- or 32-bit field mean that the zip64 record holds the real value.
inline constexpr uint64_t kIn64Short = 0xffff;
inline constexpr uint64_t kIn64 = 0xffffffff;

}  // namespace eps::zip_format
