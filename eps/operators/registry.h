// Operators by name: every registered operator, and the grammar of operator specs.
#pragma once

#include "eps/base/spec.h"
#include "eps/operators/operator.h"

namespace eps {

// Draws an operator for images like this one (its shape (N, C, H, W) and device count, its values
// do not). Random parameters are drawn per image from the image's stream.
using Draw = std::function<Operator(const Tensor& like, Rng& rng)>;

struct OperatorEntry {
  std::string name;
  std::string summary;  // one line for `eps list`
  std::string
      example;  // a spec that works on any image of at least 8 x 8 pixels, or "" if it needs a file
  std::vector<Field> fields;
  // Those of them that say how much it takes away, not where or which way: a network trained for
  // other values is warned of.
  std::vector<std::string> strengths = {};
  std::function<Operator(const Spec& spec, const Tensor& like, Rng& rng)> make;
  int64_t measurement_dims = 4;  // with the batch
  // The image shape that a measurement of shape y belongs to. Empty: the shape of y.
  std::function<Shape(const Spec& spec, const Shape& y)> image_shape = nullptr;
  // Whether two seeds may draw two operators from the spec. Empty: they never do.
  std::function<bool(const Spec& spec)> is_random = nullptr;
};

// Every registered operator, by name; an Error if two of them have one name.
const std::map<std::string, OperatorEntry>& operators();
bool register_operator(OperatorEntry entry);  // false if the name is taken

// An operator from a spec. "a | b" applies a, then b; "a + b" measures both, stacked.
Draw parse_operator(const std::string& spec);
Operator make_operator(const std::string& spec, const Tensor& like, Rng& rng);
Shape image_shape_of(const std::string& spec, const Shape& y);
int64_t measurement_dims_of(const std::string& spec);
bool is_composed(const std::string& spec);     // of several, by | or +
bool names_operator(const std::string& spec);  // begins with the name of a registered operator
// Whether two seeds may draw two operators from the spec: such a spec does not say which operator
// made a measurement.
bool is_random(const std::string& spec);

// For authors of operators: a number in the range for each image, as (N, 1, 1, 1). Parameters are
// drawn on the CPU in float64, and moved to the device of `like` once they are complete.
Tensor draw_in(const Range& range, const Tensor& like, Rng& rng);
// For authors of operators: `is_random` of an operator that draws only the values that are ranges.
std::function<bool(const Spec& spec)> random_ranges(std::vector<std::string> keys);

// In an operator's file, once per name: EPS_OPERATOR({.name = ..., ...});
#define EPS_OPERATOR_AT_(number, ...) \
  [[maybe_unused]] const bool registered_operator_##number = register_operator(__VA_ARGS__)
#define EPS_OPERATOR_(number, ...) EPS_OPERATOR_AT_(number, __VA_ARGS__)
#define EPS_OPERATOR(...) EPS_OPERATOR_(__COUNTER__, __VA_ARGS__)

}  // namespace eps
