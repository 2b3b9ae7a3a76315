// The part of a pickle that is plain data, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "eps/io/torch/pickle.h"

namespace eps {

// Valid UTF-8, as JSON and safetensors want their text.
bool is_utf8(std::string_view text);

// A small pickle can share its way to a tree of any size, so what is kept is limited: a dict's
// entry that would exceed the limit is left out, like one that is no plain data.
class PickleJson {
 public:
  // None, booleans, 64-bit integers, finite numbers and UTF-8 text; lists, tuples and sets of such
  // values; dicts and attributes with string keys, less the entries that are something else.
  // Nothing for any other value, for a dict of which no entry is left, for a container inside
  // itself or deeper than kMaxPickleDepth.
  std::optional<nlohmann::json> convert(PickleRef value);

 private:
  std::optional<nlohmann::json> convert_container(PickleRef value);
  std::optional<nlohmann::json> convert_text(std::string_view text);
  std::optional<nlohmann::json> convert_items(const std::vector<PickleRef>& items);
  std::optional<nlohmann::json> convert_entries(const PickleEntries& entries);
  bool work(size_t amount);
  bool spend(size_t amount);

  std::vector<PickleRef> path_;         // the containers being converted, outermost first
  size_t room_left_ = size_t{1} << 16;  // values and characters of text that may still be kept
  size_t work_left_ = size_t{1} << 18;  // the same, with all that was looked at and left out
};

}  // namespace eps
