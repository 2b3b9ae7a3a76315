// Conversion of the plain data of a pickle to JSON.
#include "eps/io/torch/pickle_json.h"

#include <algorithm>
#include <cmath>

#include "eps/io/torch/pickle_view.h"

namespace eps {

bool is_utf8(std::string_view text) {
  try {
    return !SortedJson(text).dump().empty();
  } catch (const SortedJson::type_error&) {
    return false;
  }
}

bool PickleJson::work(size_t amount) {
  const bool enough = amount <= work_left_;
  work_left_ = enough ? work_left_ - amount : 0;
  return enough;
}

bool PickleJson::spend(size_t amount) {
  if (!work(amount) || amount > room_left_) return false;
  room_left_ -= amount;
  return true;
}

std::optional<SortedJson> PickleJson::convert(PickleRef value) {
  if (!spend(1)) return std::nullopt;
  if (value->as<std::monostate>() != nullptr) return SortedJson(nullptr);
  if (const auto* flag = value->as<bool>()) return SortedJson(*flag);
  if (const auto* integer = value->as<int64_t>()) return SortedJson(*integer);
  if (const auto* number = value->as<double>()) {
    return std::isfinite(*number) ? std::optional<SortedJson>(*number) : std::nullopt;
  }
  if (const auto* text = text_of(value)) return convert_text(*text);
  const bool inside_itself = std::find(path_.begin(), path_.end(), value) != path_.end();
  if (inside_itself || path_.size() >= kMaxPickleDepth) return std::nullopt;
  path_.push_back(value);
  std::optional<SortedJson> container = convert_container(value);
  path_.pop_back();
  return container;
}

std::optional<SortedJson> PickleJson::convert_container(PickleRef value) {
  if (const auto* items = items_of(value)) return convert_items(*items);
  if (const auto entries = entries_of(value)) return convert_entries(*entries);
  const auto attributes = entries_of(attributes_of(value));
  return attributes ? convert_entries(*attributes) : std::nullopt;
}

std::optional<SortedJson> PickleJson::convert_text(std::string_view text) {
  if (!spend(text.size()) || !is_utf8(text)) return std::nullopt;
  return SortedJson(text);
}

std::optional<SortedJson> PickleJson::convert_items(const std::vector<PickleRef>& items) {
  SortedJson array = SortedJson::array();
  for (const PickleRef item : items) {
    std::optional<SortedJson> element = convert(item);
    if (!element) return std::nullopt;
    array.push_back(std::move(*element));
  }
  return array;
}

std::optional<SortedJson> PickleJson::convert_entries(const PickleEntries& entries) {
  if (!work(entries.size())) return std::nullopt;
  SortedJson object = SortedJson::object();
  for (const auto& [key, value] : entries) {
    const size_t room = room_left_;
    const auto* name = text_of(key);
    const bool named = name != nullptr && spend(name->size()) && is_utf8(*name);
    std::optional<SortedJson> element = named ? convert(value) : std::nullopt;
    if (element) {
      object[std::string(*name)] = std::move(*element);
    } else {
      room_left_ = room;
    }
  }
  if (object.empty() && !entries.empty()) return std::nullopt;
  return object;
}

}  // namespace eps
