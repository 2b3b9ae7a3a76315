// Reuse of the memory of large tensors on a CPU.
#pragma once

#include <c10/core/Allocator.h>

namespace eps {

// `KeptBlocks` allocates as libtorch does, but keeps large blocks that are freed, up to kMost
// bytes, for the next of about their size. malloc returns blocks of 32 MB and more to the system at
// once, and fetching them again, page by page, took half of the time of a picture of 4096 x 4096
// pixels; without mmap, the heap of such blocks breaks into fragments. What is kept is one for all
// instances, as libtorch frees memory by the address alone.
class KeptBlocks final : public c10::Allocator {
 public:
  static constexpr size_t kLarge = size_t{32} << 20, kMost = size_t{1} << 30;

  // These are the virtual functions of the allocators of all libtorches, const before 2.3.
  c10::DataPtr allocate(size_t bytes) { return allocated(bytes); }
  c10::DataPtr allocate(size_t bytes) const { return allocated(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const;
  c10::DeleterFnPtr raw_deleter() const override;

  static size_t kept();  // bytes

 private:
  static c10::DataPtr allocated(size_t bytes);
};

// Makes `KeptBlocks` the allocator of this process: for programs, before there is a tensor.
void keep_large_blocks();

}  // namespace eps
