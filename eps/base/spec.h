// A text spec such as "blur_motion:length=7..15,angle=30" has a name, and values for its fields.
//
// An entry of a registry states its fields once, with type, bounds and default. resolve() checks
// every value against them, so that the code that reads a resolved spec needs no checks of its own.
#pragma once

#include <cmath>
#include <type_traits>

#include "eps/base/core.h"

namespace eps {

// A `Bounds` holds the interval of the allowed numbers. The interval is closed, except at a lower
// end that is `open`.
struct Bounds {
  double least = -INFINITY;
  double most = INFINITY;
  bool open = false;

  bool contains(double number) const;  // false for NaN and infinities
  std::string text() const;            // "[0, 1]", "[1, inf)", "(0, inf)"
};
inline Bounds at_least(double least) { return {least}; }
inline Bounds positive() { return {.least = 0, .open = true}; }

// A `Field` describes one value that a spec takes: for parsing, defaults, checks and `eps list`.
struct Field {
  enum class Type { text, choice, flag, integer, real, range };

  std::string name;
  std::string value;  // the default; empty: none
  std::string help;
  Type type = Type::text;
  Bounds bounds = {};                     // bounds of a number
  std::vector<std::string> choices = {};  // allowed values of a choice

  static Field real(std::string name, std::string value, Bounds bounds, std::string help);
  static Field integer(std::string name, std::string value, Bounds bounds, std::string help);
  static Field range(std::string name, std::string value, Bounds bounds, std::string help);
  static Field flag(std::string name, std::string value, std::string help);  // 0 or 1
  static Field choice(std::string name,
                      std::string value,
                      std::vector<std::string> choices,
                      std::string help);

  // Returns the allowed values in words: "a number in [0, 1]", "euler or heun"; "" for any text.
  std::string domain() const;
};

struct Range {
  double low;
  double high;
};

class Spec {
 public:
  // Splits "name:key=value,..." and accepts any name and any keys.
  static Spec parse(const std::string& text);

  const std::string& name() const { return name_; }

  // Returns this spec with another value for the key. A number keeps its last bit.
  Spec with(const std::string& key, const std::string& value) const;
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, bool> = true>
  Spec with(const std::string& key, Number value) const {
    if constexpr (std::is_floating_point_v<Number>)
      return with(key, exact_text(static_cast<double>(value)));
    else
      return with(key, std::to_string(value));
  }

  // Returns this spec with defaults filled in. Throws an Error for a key that is not a field, and
  // for a value that its field does not allow.
  Spec resolve(const std::vector<Field>& fields) const;

  bool has(const std::string& key) const;  // given, or filled in from a default
  std::string text(const std::string& key) const;
  double real(const std::string& key) const;
  int64_t integer(const std::string& key) const;
  bool flag(const std::string& key) const { return integer(key) != 0; }
  // Returns the interval "a..b" to draw from, or one number as an interval.
  Range range(const std::string& key) const { return range_in(key, {}, 0); }
  // Returns the interval of the key after a check of bounds that depend on an image, which the
  // field cannot state. A number may be a percentage of `whole`: "25%..50%".
  Range range(const std::string& key, double least, double most, double whole = 0) const {
    return range_in(key, {least, most}, whole);
  }

 private:
  static std::string exact_text(double number);
  Range range_in(const std::string& key, const Bounds& bounds, double whole) const;
  void check_value(const Field& field) const;

  std::string name_;
  std::map<std::string, std::string> values_;
};

// Returns ` (did you mean "inpaint_box"?)`, or nothing when no candidate is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates);

// Joins choices as in "euler, heun or dpmpp_2m".
std::string alternatives(const std::vector<std::string>& choices);

// An `UnknownName` reports a name that no entry of a registry has.
class UnknownName : public Error {
 public:
  // `kind` is the kind of the entries in the singular ("operator"); `candidates` are their names.
  UnknownName(const std::string& kind,
              const std::string& name,
              const std::vector<std::string>& candidates);
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

}  // namespace eps
