// Parsing of text specs, and checks of their values against fields.
#include "eps/base/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace eps {
namespace {

// Returns the Levenshtein distance: the number of insertions, deletions and substitutions that turn
// a into b.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
    }
  }
  return row.back();
}

template <class Number>
Number parse_number(const std::string& spec,
                    const std::string& key,
                    const std::string& text,
                    const char* kind) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  check(status == std::errc() && stop == end, spec, ": ", key, "=", text, " is not ", kind);
  return number;
}

}  // namespace

std::string alternatives(const std::vector<std::string>& choices) {
  if (choices.size() < 2) return fmt::format("{}", fmt::join(choices, ""));
  return fmt::format(
      "{} or {}", fmt::join(choices.begin(), choices.end() - 1, ", "), choices.back());
}

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  std::string nearest;
  // Anything is near to one or two letters; of three, two may be swapped.
  size_t least = name.size() < 3 ? name.size() : std::max<size_t>(2, name.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    // A shortened name ("inpaint_rand") is near as well.
    const bool prefix = name.size() >= 3 && candidate.rfind(name, 0) == 0;
    const size_t distance = prefix ? 1 : edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : " (did you mean \"" + nearest + "\"?)";
}

bool Bounds::contains(double number) const {
  return std::isfinite(number) && number <= most && (open ? number > least : number >= least);
}

std::string Bounds::text() const {
  return fmt::format("{}{}, {}{}",
                     open || std::isinf(least) ? '(' : '[',
                     least,
                     most,
                     std::isinf(most) ? ')' : ']');
}

Field Field::real(std::string name, std::string value, Bounds bounds, std::string help) {
  return {std::move(name), std::move(value), std::move(help), Type::real, bounds};
}

Field Field::integer(std::string name, std::string value, Bounds bounds, std::string help) {
  return {std::move(name), std::move(value), std::move(help), Type::integer, bounds};
}

Field Field::range(std::string name, std::string value, Bounds bounds, std::string help) {
  return {std::move(name), std::move(value), std::move(help), Type::range, bounds};
}

Field Field::flag(std::string name, std::string value, std::string help) {
  return {std::move(name), std::move(value), std::move(help), Type::flag, {0, 1}};
}

Field Field::choice(std::string name,
                    std::string value,
                    std::vector<std::string> choices,
                    std::string help) {
  return {std::move(name), std::move(value), std::move(help), Type::choice, {}, std::move(choices)};
}

std::string Field::domain() const {
  switch (type) {
    case Type::text:
      return "";
    case Type::choice:
      return alternatives(choices);
    case Type::flag:
      return "0 or 1";
    case Type::integer:
      return "a whole number in " + bounds.text();
    case Type::real:
      return "a number in " + bounds.text();
    case Type::range:
      return "a number or a..b in " + bounds.text();
  }
  return "";
}

Spec Spec::parse(const std::string& text) {
  Spec spec;
  const size_t colon = text.find(':');
  spec.name_ = text.substr(0, colon);
  check(!spec.name_.empty(), "spec \"", text, "\": wanted name or name:key=value,key=value");
  if (colon == std::string::npos) return spec;
  std::istringstream fields(text.substr(colon + 1));
  for (std::string field; std::getline(fields, field, ',');) {
    const size_t equals = field.find('=');
    check(equals != std::string::npos && equals > 0 && equals + 1 < field.size(),
          "spec \"",
          text,
          "\": \"",
          field,
          "\" is not key=value");
    const bool is_new =
        spec.values_.emplace(field.substr(0, equals), field.substr(equals + 1)).second;
    check(is_new, "spec \"", text, "\": ", field.substr(0, equals), " is given twice");
  }
  return spec;
}

Spec Spec::with(const std::string& key, const std::string& value) const {
  Spec changed = *this;
  changed.values_[key] = value;
  return changed;
}

// fmt prints the fewest digits that read back as the same number.
std::string Spec::exact_text(double number) { return fmt::format("{}", number); }

Spec Spec::resolve(const std::vector<Field>& fields) const {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  for (const auto& [key, value] : values_) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    fail(name_,
         ": unknown field \"",
         key,
         "\"",
         suggestion(key, names),
         "; it takes ",
         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  Spec resolved = *this;
  for (const auto& field : fields) {
    if (!field.value.empty()) resolved.values_.emplace(field.name, field.value);
    if (resolved.has(field.name)) resolved.check_value(field);
  }
  return resolved;
}

void Spec::check_value(const Field& field) const {
  const std::string& key = field.name;
  const std::string value = text(key);
  const auto check_number = [&](double number) {
    check(field.bounds.contains(number),
          name_,
          ": ",
          key,
          "=",
          value,
          " is outside ",
          field.bounds.text());
  };
  switch (field.type) {
    case Field::Type::text:
      return;
    case Field::Type::real:
      return check_number(real(key));
    case Field::Type::flag:
    case Field::Type::integer:
      return check_number(static_cast<double>(integer(key)));
    case Field::Type::range:
      range_in(key, field.bounds, 0);
      return;
    case Field::Type::choice:
      break;
  }
  const auto& choices = field.choices;
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  const std::string list = choices.size() == 2
                               ? "neither " + choices[0] + " nor " + choices[1]
                               : fmt::format("none of {}", fmt::join(choices, ", "));
  fail(name_, ": ", key, "=", value, " is ", list, suggestion(value, choices));
}

bool Spec::has(const std::string& key) const { return values_.count(key) > 0; }

std::string Spec::text(const std::string& key) const {
  const auto found = values_.find(key);
  check(found != values_.end(), name_, ": ", key, "= is wanted");
  return found->second;
}

double Spec::real(const std::string& key) const {
  return parse_number<double>(name_, key, text(key), "a number");
}

int64_t Spec::integer(const std::string& key) const {
  return parse_number<int64_t>(name_, key, text(key), "a whole number");
}

Range Spec::range_in(const std::string& key, const Bounds& bounds, double whole) const {
  const std::string both = text(key);
  const auto number = [&](std::string part) {
    double unit = 1;
    if (whole > 0 && !part.empty() && part.back() == '%') {
      part.pop_back();
      unit = whole / 100;
    }
    const double value = unit * parse_number<double>(name_, key, part, "a number or a range a..b");
    check(bounds.contains(value), name_, ": ", key, "=", both, " is outside ", bounds.text());
    return value;
  };
  const size_t dots = both.find("..");
  const Range range{number(both.substr(0, dots)),
                    number(dots == std::string::npos ? both : both.substr(dots + 2))};
  check(range.low <= range.high, name_, ": ", key, "=", both, " runs backwards");
  return range;
}

UnknownName::UnknownName(const std::string& kind,
                         const std::string& name,
                         const std::vector<std::string>& candidates)
    : Error("unknown " + kind + " \"" + name + "\"" + suggestion(name, candidates)), kind_(kind) {}

}  // namespace eps
