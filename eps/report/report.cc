// Rows as JSON, for programs, and as CSV, for spreadsheets.
#include "eps/report/report.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "eps/base/json_fields.h"
#include "eps/report/row_json.h"

namespace eps {

static void read_fields(JsonFields& fields, Reading& reading) {
  fields.required("value", reading.value);
  fields.required("se", reading.se);
}

}  // namespace eps

namespace eps::report {
namespace {

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

// RFC 4180: quoted where a comma, a quote or a line break is inside, quotes doubled.
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

Json row_json(const Row& row) {
  Json json;
  for_each_field(row, [&](const char* name, const auto& value) { json[name] = encode(value); });
  return json;
}

Row parse_row(const Json& json, const std::string& where) {
  Row row;
  JsonFields fields(json, where, JsonFields::Null::is_nan);
  for_each_field(row, [&](const char* name, auto& value) { fields.required(name, value); });
  fields.finish();
  return row;
}

std::string to_json(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const auto& row : rows) text += (text.size() > 1 ? ",\n" : "\n") + json_text(row_json(row));
  return text + "\n]\n";
}

std::vector<Row> parse_rows(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, name);
  check(json.is_array(), name, ": must be a list of rows, got ", json.type_name());
  std::vector<Row> rows;
  for (const auto& item : json)
    rows.push_back(parse_row(item, fmt::format("{}: row {}", name, rows.size() + 1)));
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
