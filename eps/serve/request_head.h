// The head of an HTTP request, checked strictly before anything else reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eps/serve/exchange.h"

namespace eps::serve {

// The most bytes of a head and of its first line.
inline constexpr size_t kMostHead = 16384, kMostLine = 2048;

// `HeadRules` say which requests are answered.
struct HeadRules {
  std::string token = {};               // that requests of the API must have; never empty
  std::vector<std::string> hosts = {};  // names that Host may have, beside those of this machine
  bool any_address = false;             // Host may be any number of an address, too
  uint64_t body_bytes = 0;
};

// A `RequestHead` holds what the rest of the server needs to know.
struct RequestHead {
  Request request = {};
  std::optional<uint64_t> content_length = {};
  bool expects_continue = false;
};

// Returns the parts of a head that ends with an empty line. What is not HTTP/1.0 or 1.1, what no
// client of this server needs (Transfer-Encoding, Range, a coded body, a body of GET), another Host
// and a wrong token are Refusals.
RequestHead parse_request_head(std::string_view bytes, const HeadRules& rules);

// Returns whether two texts are equal, in a time that depends on the length of the second alone.
bool equal_in_constant_time(std::string_view secret, std::string_view given);

// Returns the text with %41 as A; none for a broken one, or one with bytes that are not printable.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace eps::serve
