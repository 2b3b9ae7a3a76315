// A strict reader of the fields of a JSON object.
#include "eps/base/json_fields.h"

#include <cmath>
#include <limits>
#include <optional>

#include "eps/base/spec.h"

namespace eps {
namespace {

// Returns a number without a fraction, or nothing; 1e6 is such a number, though the JSON parser
// returns it as a real number.
std::optional<int64_t> whole_number(const Json& json) {
  constexpr double kExact = 9007199254740992;  // 2^53: doubles hold every whole number up to here
  if (json.is_number_unsigned()) {
    const auto number = json.get<uint64_t>();
    if (number > uint64_t{std::numeric_limits<int64_t>::max()}) return {};
    return static_cast<int64_t>(number);
  }
  if (json.is_number_integer()) return json.get<int64_t>();
  if (!json.is_number_float()) return {};
  const auto number = json.get<double>();
  if (std::trunc(number) != number || std::abs(number) > kExact) return {};
  return static_cast<int64_t>(number);
}

}  // namespace

JsonFields::JsonFields(const Json& object, std::string where, Null null)
    : object_(&object), where_(std::move(where)), null_(null) {
  if (!object.is_object()) wrong(object, where_, "a JSON object");
}

const Json* JsonFields::find(const char* name) {
  known_.insert(name);
  const auto found = object_->find(name);
  return found == object_->end() ? nullptr : &*found;
}

const Json& JsonFields::at(const char* name) {
  const Json* found = find(name);
  check(found != nullptr, where_, ": ", name, " is missing");
  return *found;
}

std::vector<JsonFields> JsonFields::list(const char* name) {
  std::vector<JsonFields> readers;
  const Json* found = find(name);
  if (found == nullptr) return readers;
  if (!found->is_array()) wrong(*found, place(name), "a list");
  for (const Json& item : *found)
    readers.emplace_back(item, place(name) + "[" + std::to_string(readers.size()) + "]", null_);
  return readers;
}

void JsonFields::finish(const std::string& whose) const {
  const std::vector<std::string> names(known_.begin(), known_.end());
  for (const auto& [name, value] : object_->items()) {
    const std::string shown = printable(name);
    check(known_.count(name) > 0,
          where_,
          ": unknown field \"",
          shown,
          "\"",
          suggestion(shown, names),
          whose);
  }
}

void JsonFields::wrong(const Json& json, const std::string& where, const char* wanted) {
  fail(where, " must be ", wanted, ", got ", json_excerpt(json));
}

void JsonFields::read(const Json& json, const std::string& where, std::string& value) const {
  if (!json.is_string()) wrong(json, where, "text");
  value = json.get<std::string>();
}

void JsonFields::read(const Json& json, const std::string& where, bool& value) const {
  if (!json.is_boolean()) wrong(json, where, "true or false");
  value = json.get<bool>();
}

void JsonFields::read(const Json& json, const std::string& where, int64_t& value) const {
  const std::optional<int64_t> number = whole_number(json);
  if (!number) wrong(json, where, "a whole number");
  value = *number;
}

void JsonFields::read(const Json& json, const std::string& where, uint64_t& value) const {
  const std::optional<int64_t> number = whole_number(json);
  if (!json.is_number_unsigned() && number.value_or(-1) < 0)
    wrong(json, where, "a whole number of at least 0");
  value = json.is_number_unsigned() ? json.get<uint64_t>() : static_cast<uint64_t>(*number);
}

void JsonFields::read(const Json& json, const std::string& where, double& value) const {
  const bool nan = null_ == Null::is_nan && json.is_null();
  if (!nan && !json.is_number())
    wrong(json, where, null_ == Null::is_nan ? "a number or null" : "a number");
  value = nan ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

}  // namespace eps
