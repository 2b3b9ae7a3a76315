// JSON input and output: one strict parser for text from outside, and one writer that never fails.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "eps/base/core.h"

namespace eps {

using Json = nlohmann::ordered_json;  // keeps the order of fields; a look-up is a linear search
using SortedJson = nlohmann::json;    // sorted, for fast look-up among very many fields

// `JsonLimits` bounds the size of a value: copies and dumps of a value recurse into it, and a Json
// of n fields takes n^2 steps to build.
struct JsonLimits {
  int depth = 64;
  size_t fields = 4096;  // fields of one object
};

// Returns the value that the text describes. A text that is not JSON, nests too deeply, names a
// field of an object twice or has too many fields is an Error of one line that begins with `name`
// and gives the position.
Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits = {});
SortedJson parse_sorted_json(std::string_view text,
                             const std::string& name,
                             const JsonLimits& limits);

// Returns the value as text, with line breaks if an indent is given. Bytes that are not UTF-8,
// which names of files may have, become U+FFFD; NaN and infinities become null.
std::string json_text(const Json& value, int indent = -1);

// Returns the beginning of the value as text, for messages.
std::string json_excerpt(const Json& value);

}  // namespace eps
