// FNV-1a of 128 bits.
#include "eps/io/content_hash.h"

#include <fmt/format.h>

namespace eps {

void ContentHash::add(std::string_view bytes) {
  constexpr Word kPrime = word(0x0000000001000000, 0x000000000000013b);
  Word hash = hash_;  // a local copy stays in a register: bytes could alias a member
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  hash_ = hash;
}

std::string ContentHash::hex() const {
  return fmt::format(
      "{:016x}{:016x}", static_cast<uint64_t>(hash_ >> 64), static_cast<uint64_t>(hash_));
}

std::string content_hash(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace eps
