// What a fuzz target is: a reader of hostile bytes, under the name of its corpus folder.
//
// Each fuzz/fuzz_NAME.cc defines one. libFuzzer drives it through fuzz/entry.cc; the test suite
// replays fuzz/corpus/NAME through the same function. To search for an hour:
//
//   cmake --preset fuzz && cmake --build --preset fuzz && mkdir found
//   build/fuzz/fuzz/fuzz_npy -max_total_time=3600 -malloc_limit_mb=256 found fuzz/corpus/npy
#pragma once

#include <algorithm>

#include "eps/base/core.h"

namespace eps::fuzz {

using Reader = void (*)(std::string_view bytes);

inline std::map<std::string, Reader>& readers() {
  static std::map<std::string, Reader> readers;
  return readers;
}

struct Registration {
  Registration(const char* name, Reader reader) { readers()[name] = reader; }
};

// The message with which the reader refuses the bytes, empty when it takes them. Any other
// exception is a finding and passes through; so is a message that the file has filled with line
// breaks, escape sequences or itself.
inline std::string feed(Reader reader, std::string_view bytes) {
  std::string message;
  try {
    reader(bytes);
  } catch (const Error& error) {
    message = error.what();
  }
  constexpr size_t kLongest = 2000;
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (message.size() > kLongest || !std::all_of(message.begin(), message.end(), plain)) {
    throw std::logic_error("not one short printable line: " + message);
  }
  return message;
}

}  // namespace eps::fuzz

// EPS_FUZZ_TARGET(npy) { parse_npy(bytes, "npy"); }
#define EPS_FUZZ_TARGET(name)                                        \
  namespace eps::fuzz {                                              \
  static void read_##name(std::string_view bytes);                   \
  static const Registration registration_##name{#name, read_##name}; \
  }                                                                  \
  static void eps::fuzz::read_##name(std::string_view bytes)
