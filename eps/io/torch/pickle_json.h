// Conversion of the plain data of a pickle to JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "eps/base/json.h"
#include "eps/io/torch/pickle.h"

namespace eps {

// Returns whether the text is valid UTF-8, which JSON and safetensors require.
bool is_utf8(std::string_view text);

// A `PickleJson` converts values of a pickle within a limit, since a small pickle can expand, by
// sharing, to a tree of any size. It omits a dict's entry that would exceed the limit, or that is
// not plain data.
class PickleJson {
 public:
  // Converts None, booleans, 64-bit integers, finite numbers and UTF-8 text; lists, tuples and sets
  // of such values; dicts and attributes with string keys, less the entries of other types. Returns
  // nothing for any other value, for a dict without convertible entries, for a container inside
  // itself or deeper than kMaxPickleDepth.
  std::optional<SortedJson> convert(PickleRef value);

 private:
  std::optional<SortedJson> convert_container(PickleRef value);
  std::optional<SortedJson> convert_text(std::string_view text);
  std::optional<SortedJson> convert_items(const std::vector<PickleRef>& items);
  std::optional<SortedJson> convert_entries(const PickleEntries& entries);
  bool work(size_t amount);
  bool spend(size_t amount);

  std::vector<PickleRef> path_;         // the containers being converted, outermost first
  size_t room_left_ = size_t{1} << 16;  // values and characters of text that may still be kept
  size_t work_left_ = size_t{1} << 18;  // the same, with all values that were visited and omitted
};

}  // namespace eps
