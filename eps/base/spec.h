// Text specs such as "blur_motion:length=7..15,angle=30": a name, and values for the fields it
// declares.
#pragma once

#include "eps/base/core.h"

namespace eps {

// What an entry of a registry takes: stated once, used for parsing, defaults and `eps list`.
struct Field {
  std::string name;
  std::string value;  // the default; empty: none
  std::string help;
};

struct Range {
  double low;
  double high;
};

class Spec {
 public:
  // Splits "name:key=value,..." without judging name or keys.
  static Spec parse(const std::string& text);

  const std::string& name() const { return name_; }

  // This spec with this value for a key, whatever it had.
  Spec with(const std::string& key, const std::string& value) const;

  // This spec with defaults filled in; a key that is no field is an error.
  Spec resolve(const std::vector<Field>& fields) const;

  bool has(const std::string& key) const;  // given, or with a default
  std::string text(const std::string& key) const;
  double real(const std::string& key, double least, double most) const;
  int64_t integer(const std::string& key, int64_t least, int64_t most) const;
  // "a..b", to be drawn from, or one number. A number may be a percentage of `whole`: "25%..50%".
  Range range(const std::string& key, double least, double most, double whole = 0) const;

 private:
  std::string name_;
  std::map<std::string, std::string> values_;
};

// ` (did you mean "inpaint_box"?)`, or nothing when no candidate is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates);

// An `UnknownName` is the Error about a name that no entry of a registry has.
class UnknownName : public Error {
 public:
  // kind: of the entries, in the singular ("operator"); candidates: their names.
  UnknownName(const std::string& kind,
              const std::string& name,
              const std::vector<std::string>& candidates);
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

}  // namespace eps
