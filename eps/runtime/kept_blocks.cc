// Reuse of the memory of large tensors on a CPU.
#include "eps/runtime/kept_blocks.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "eps/base/core.h"

namespace eps {
namespace {

// Large blocks begin at a page, which hardly a small one does: no other is looked up.
constexpr size_t kPage = 4096;
bool begins_at_page(const void* data) { return reinterpret_cast<uintptr_t>(data) % kPage == 0; }

struct Block {
  void* data;
  size_t bytes;
};

// A `Pool` holds all large blocks: those in use by their address, and those kept, the oldest first.
struct Pool {
  std::mutex mutex;
  std::unordered_map<void*, size_t> used;
  std::deque<Block> kept;
  size_t bytes = 0;  // kept

  // Takes the kept block that wastes least, an eighth at most.
  std::optional<Block> take(size_t wanted) {
    auto best = kept.end();
    for (auto block = kept.begin(); block != kept.end(); ++block) {
      const bool fits = block->bytes >= wanted && block->bytes - wanted <= wanted / 8;
      if (fits && (best == kept.end() || block->bytes < best->bytes)) best = block;
    }
    if (best == kept.end()) return {};
    const Block taken = *best;
    kept.erase(best);
    bytes -= taken.bytes;
    return taken;
  }
  void free_down_to(size_t most) {
    for (; bytes > most; kept.pop_front()) {
      std::free(kept.front().data);
      bytes -= kept.front().bytes;
    }
  }
};

// The pool lasts as long as the process: tensors of static objects may be freed after others.
Pool& pool() {
  static Pool* const all = new Pool;
  return *all;
}

void release(void* data) {
  if (begins_at_page(data)) {
    const std::lock_guard lock(pool().mutex);
    if (const auto found = pool().used.find(data); found != pool().used.end()) {
      const Block block{data, found->second};
      pool().used.erase(found);
      // A block that is too large to be kept does not put out the others.
      if (block.bytes > KeptBlocks::kMost) return std::free(data);
      pool().kept.push_back(block);
      pool().bytes += block.bytes;
      return pool().free_down_to(KeptBlocks::kMost);
    }
  }
  c10::GetDefaultCPUAllocator()->raw_deleter()(data);
}

}  // namespace

c10::DataPtr KeptBlocks::allocated(size_t bytes) {
  if (bytes < kLarge) {
    void* const data = c10::GetDefaultCPUAllocator()->allocate(bytes).release_context();
    return {data, data, &release, at::kCPU};
  }
  const std::lock_guard lock(pool().mutex);
  std::optional<Block> block = pool().take(bytes);
  if (!block) {
    const size_t whole = (bytes + kPage - 1) / kPage * kPage;
    block = Block{std::aligned_alloc(kPage, whole), whole};
    if (block->data == nullptr) {
      pool().free_down_to(0);
      block->data = std::aligned_alloc(kPage, whole);
    }
    check(block->data != nullptr, "not enough memory: ", bytes, " bytes are wanted");
  }
  pool().used.emplace(block->data, block->bytes);
  return {block->data, block->data, &release, at::kCPU};
}

void KeptBlocks::copy_data(void* to, const void* from, size_t bytes) const {
  std::memcpy(to, from, bytes);
}

c10::DeleterFnPtr KeptBlocks::raw_deleter() const { return &release; }

size_t KeptBlocks::kept() {
  const std::lock_guard lock(pool().mutex);
  return pool().bytes;
}

void keep_large_blocks() {
  static KeptBlocks blocks;
  c10::SetCPUAllocator(&blocks, /*priority=*/1);
}

}  // namespace eps
