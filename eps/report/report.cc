// Rows as JSON, for programs, and as CSV, for spreadsheets.
#include "eps/report/report.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace eps::report {
namespace {

using Json = nlohmann::ordered_json;

// Calls visit(name, member) for the fields that are one text or one number.
template <class Target, class Visit>
void for_each_scalar(Target& row, Visit&& visit) {
  visit("task", row.task);
  visit("method", row.method);
  visit("spec", row.spec);
  visit("model", row.model);
  visit("steps", row.steps);
  visit("nfe", row.nfe);
  visit("vjps", row.vjps);
  visit("solves", row.solves);
  visit("images", row.images);
  visit("samples", row.samples);
  visit("images_seen", row.images_seen);
  visit("seconds", row.seconds);
}

// Calls visit(name, member) for every field of a row.
template <class Target, class Visit>
void for_each_field(Target& row, Visit&& visit) {
  for_each_scalar(row, visit);
  visit("metrics", row.metrics);
  visit("absent", row.absent);
  visit("ranks", row.ranks);
  visit("error", row.error);
}

template <class Value>
Json encode(const Value& value) {
  return value;
}

Json encode(const std::map<std::string, Reading>& metrics) {
  Json json = Json::object();
  for (const auto& [name, estimate] : metrics) {
    json[name] = {{"value", estimate.value}, {"se", estimate.se}};
  }
  return json;
}

// A `Fields` reads the fields of one object; `where` is for messages: "rows.json: row 3".
class Fields {
 public:
  Fields(Json json, std::string where) : json_(std::move(json)), where_(std::move(where)) {
    check(json_.is_object(), where_, ": an object is wanted, got ", json_.type_name());
  }

  template <class Value>
  void read(const char* name, Value& value) {
    const auto found = json_.find(name);
    check(found != json_.end(), where_, ": the field \"", name, "\" is missing");
    decode(*found, where_ + ": " + name, value);
    json_.erase(name);
  }

  void expect_no_more() const {
    check(
        json_.empty(), where_, ": unknown field \"", json_.empty() ? "" : json_.begin().key(), '"');
  }

 private:
  static void wrong(const Json& json, const std::string& where, const char* wanted) {
    fail(where, ": ", wanted, " is wanted, got ", json.dump().substr(0, 80));
  }

  static void decode(const Json& json, const std::string& where, std::string& value) {
    if (!json.is_string()) wrong(json, where, "a text");
    value = json.get<std::string>();
  }

  static void decode(const Json& json, const std::string& where, int64_t& value) {
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() ||
                       json.get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
    if (!fits) wrong(json, where, "a whole number");
    value = json.get<int64_t>();
  }

  // JSON has neither NaN nor infinities: all of them are written as null, and null is read as NaN.
  static void decode(const Json& json, const std::string& where, double& value) {
    if (!json.is_number() && !json.is_null()) wrong(json, where, "a number or null");
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  }

  static void decode(const Json& json, const std::string& where, Reading& value) {
    Fields fields(json, where);
    fields.read("value", value.value);
    fields.read("se", value.se);
    fields.expect_no_more();
  }

  template <class Value>
  static void decode(const Json& json,
                     const std::string& where,
                     std::map<std::string, Value>& values) {
    if (!json.is_object()) wrong(json, where, "an object");
    for (const auto& [name, item] : json.items()) {
      decode(item, fmt::format("{}: {}", where, name), values[name]);
    }
  }

  static void decode(const Json& json, const std::string& where, std::vector<double>& values) {
    if (!json.is_array()) wrong(json, where, "a list");
    for (const auto& item : json) decode(item, where, values.emplace_back());
  }

  Json json_;
  std::string where_;
};

// Returns a cell by RFC 4180: quoted where a comma, a quote or a line break is inside, quotes
// doubled.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_cell(int64_t value) { return fmt::format("{}", value); }

// Returns the digits that read back as the same number; a NaN is an empty cell.
std::string csv_cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

}  // namespace

std::string to_json(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const auto& row : rows) {
    Json json;
    for_each_field(row, [&](const char* name, const auto& value) { json[name] = encode(value); });
    // One row a line. A name that is not UTF-8 is no reason to lose the results.
    text += text.size() > 1 ? ",\n" : "\n";
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + "\n]\n";
}

std::vector<Row> parse_rows(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  check(json.is_array(), name, ": not a JSON list of rows");
  std::vector<Row> rows;
  for (const auto& item : json) {
    Fields fields(item, fmt::format("{}: row {}", name, rows.size() + 1));
    Row& row = rows.emplace_back();
    for_each_field(row, [&](const char* field, auto& value) { fields.read(field, value); });
    fields.expect_no_more();
  }
  return rows;
}

std::string to_csv(const std::vector<Row>& rows) {
  std::set<std::string> metrics;
  for (const auto& row : rows) {
    for (const auto& [name, estimate] : row.metrics) metrics.insert(name);
  }
  std::string text;
  const Row any;
  for_each_scalar(any, [&](const char* name, const auto&) { text += fmt::format("{},", name); });
  for (const auto& name : metrics) text += csv_cell(name) + "," + csv_cell(name + "_se") + ",";
  text += "error\n";
  for (const auto& row : rows) {
    for_each_scalar(row, [&](const char*, const auto& value) { text += csv_cell(value) + ","; });
    for (const auto& name : metrics) {
      const auto found = row.metrics.find(name);
      const bool there = found != row.metrics.end();
      text += there ? csv_cell(found->second.value) + "," + csv_cell(found->second.se) + "," : ",,";
    }
    text += csv_cell(row.error) + "\n";
  }
  return text;
}

}  // namespace eps::report
