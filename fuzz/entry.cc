// libFuzzer's entry point: each fuzzer is this file and one fuzz_NAME.cc.
#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const eps::fuzz::Reader reader = eps::fuzz::readers().begin()->second;
  eps::fuzz::feed(reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
