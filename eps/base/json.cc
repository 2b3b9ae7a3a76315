// JSON input and output.
#include "eps/base/json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "eps/base/printable.h"

namespace eps {
namespace {

// Returns the message of the error from "line" on: "[json.exception.parse_error.101] parse error at
// line 1, column 2: ..." without its prefix.
std::string reason_of(const std::exception& error) {
  std::string_view text = error.what();
  text.remove_prefix(std::min(text.find("] ") + 2, text.size()));
  const std::string_view place = "parse error at ";
  if (text.starts_with(place)) text.remove_prefix(place.size());
  return printable(text, 200);
}

// A `Watch` follows the parser through a text and refuses values beyond the limits.
template <class Value>
class Watch {
 public:
  Watch(const std::string& name, const JsonLimits& limits) : name_(name), limits_(limits) {}

  bool operator()(int depth, typename Value::parse_event_t event, Value& value) {
    using Event = typename Value::parse_event_t;
    if (event == Event::object_start || event == Event::array_start)
      check(depth < limits_.depth, name_, ": nests deeper than ", limits_.depth, " levels");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) add(value.template get_ref<const std::string&>());
    return true;
  }

 private:
  void add(const std::string& key) {
    check(keys_.back().insert(key).second, name_, ": '", printable(key), "' appears twice");
    check(keys_.back().size() <= limits_.fields,
          name_,
          ": an object has more than ",
          limits_.fields,
          " fields");
  }

  const std::string& name_;
  const JsonLimits& limits_;
  std::vector<std::set<std::string>> keys_;  // keys of the open objects
};

template <class Value>
Value parse(std::string_view text, const std::string& name, const JsonLimits& limits) {
  Watch<Value> watch(name, limits);
  try {
    return Value::parse(text, std::ref(watch));
  } catch (const typename Value::exception& error) {
    fail(name, ": no JSON: ", reason_of(error));
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
  return parse<Json>(text, name, limits);
}

SortedJson parse_sorted_json(std::string_view text,
                             const std::string& name,
                             const JsonLimits& limits) {
  return parse<SortedJson>(text, name, limits);
}

std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string json_excerpt(const Json& value) { return printable(json_text(value)); }

}  // namespace eps
