// Mutations of ZIP archives that keep the checksums of stored entries right.
#include "fuzz/zip_checksums.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data,
                                          size_t size,
                                          size_t max_size,
                                          unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  // One in eight keeps its broken checksum, so that this path is seen too.
  if (seed % 8 != 0) eps::fuzz::repair_checksums(data, size);
  return size;
}
