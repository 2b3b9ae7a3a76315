// A hash of bytes: equal bytes have equal hashes, and different bytes almost surely different ones.
//
// FNV-1a of 128 bits (Fowler, Noll and Vo): h becomes (h xor byte) (2^88 + 0x13b) mod 2^128 for
// each byte. Chance collisions need some 2^64 files; deliberate collisions are easy.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `ContentHash` hashes bytes that arrive in pieces as one sequence.
class ContentHash {
 public:
  void add(std::string_view bytes);
  std::string hex() const;  // 32 digits

 private:
  __extension__ typedef unsigned __int128 Word;

  static constexpr Word word(uint64_t high, uint64_t low) { return Word{high} << 64 | low; }

  Word hash_ = word(0x6c62272e07bb0142, 0x62b821756295c58d);
};

std::string content_hash(std::string_view bytes);

}  // namespace eps
