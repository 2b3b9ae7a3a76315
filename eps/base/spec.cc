// Parsing of text specs, and the nearest name to a misspelt one.
#include "eps/base/spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace eps {
namespace {

// Levenshtein distance: insertions, deletions and substitutions that turn a into b.
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

// The number itself, which must lie in [least, most]; NaN does not.
template <class Number>
Number within(Number number,
              Number least,
              Number most,
              const std::string& spec,
              const std::string& key,
              const std::string& text) {
  check(number >= least && number <= most,
        spec,
        ": ",
        key,
        "=",
        text,
        " is outside [",
        least,
        ", ",
        most,
        "]");
  return number;
}

}  // namespace

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
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

Spec Spec::resolve(const std::vector<Field>& fields) const {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  for (const auto& [key, value] : values_) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    fail(name_,
         ": unknown field \"",
         key,
         "\"",
         suggestion(key, names),
         "; it takes ",
         known.empty() ? "none" : known);
  }
  Spec resolved = *this;
  for (const auto& field : fields)
    if (!field.value.empty()) resolved.values_.emplace(field.name, field.value);
  return resolved;
}

bool Spec::has(const std::string& key) const { return values_.count(key) > 0; }

std::string Spec::text(const std::string& key) const {
  const auto found = values_.find(key);
  check(found != values_.end(), name_, ": ", key, "= is wanted");
  return found->second;
}

double Spec::real(const std::string& key, double least, double most) const {
  const double number = parse_number<double>(name_, key, text(key), "a number");
  return within(number, least, most, name_, key, text(key));
}

int64_t Spec::integer(const std::string& key, int64_t least, int64_t most) const {
  const auto number = parse_number<int64_t>(name_, key, text(key), "a whole number");
  return within(number, least, most, name_, key, text(key));
}

Range Spec::range(const std::string& key, double least, double most, double whole) const {
  const auto number = [&](std::string part) {
    double unit = 1;
    if (whole > 0 && !part.empty() && part.back() == '%') {
      part.pop_back();
      unit = whole / 100;
    }
    const double value = unit * parse_number<double>(name_, key, part, "a number or a range a..b");
    return within(value, least, most, name_, key, text(key));
  };
  const std::string both = text(key);
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
