// Operators by name: every registered operator, and the grammar of operator specs.
#pragma once

#include "eps/base/spec.h"
#include "eps/operators/operator.h"

namespace eps {

// A `Draw` draws an operator for images of the shape (N, C, H, W) and on the device of `like`,
// whose values do not count. Random parameters are drawn per image from the image's stream.
using Draw = std::function<Operator(const Tensor& like, Rng& rng)>;

// An `OperatorEntry` describes one operator: its spec, and how it is made.
struct OperatorEntry {
  std::string name;
  std::string summary;  // one line for `eps list`
  // A spec that works on any image of at least 8 x 8 pixels; "" for operators that need a file.
  std::string example;
  std::vector<Field> fields;
  // The fields that set how much an operator takes away, and not where or in which direction.
  // Restorations warn of values for which the network was not trained.
  std::vector<std::string> strengths = {};
  std::function<Operator(const Spec& spec, const Tensor& like, Rng& rng)> make;
  int64_t measurement_dims = 4;  // with the batch
  int64_t channels = 0;          // of the images that it takes; 0: any number
  bool mixes_channels = false;   // an entry of the measurement may depend on several channels
  std::string kind = "other";    // one of operator_kinds(): methods have step sizes by kind
  // Returns the shape of the images whose measurements have the shape y. Empty: the shape of y.
  std::function<Shape(const Spec& spec, const Shape& y)> image_shape = nullptr;
  // Returns whether two seeds may draw two operators from the spec. Empty: they never do.
  std::function<bool(const Spec& spec)> is_random = nullptr;
  // Returns the measurement A x + sigma_y n, of white noise, from one that users have, whose noise
  // differs from entry to entry. Empty: the two are the same.
  std::function<Tensor(const Spec& spec, const Tensor& y)> whiten = nullptr;
};

// Returns every registered operator by name. Throws an Error if two have one name.
const std::map<std::string, OperatorEntry>& operators();
bool register_operator(OperatorEntry entry);  // false if the name is taken

// Parses the spec of an operator. "a | b" applies a, then b; "a + b" measures both, stacked.
Draw parse_operator(const std::string& spec);
Operator make_operator(const std::string& spec, const Tensor& like, Rng& rng);
Shape image_shape_of(const std::string& spec, const Shape& y);
int64_t measurement_dims_of(const std::string& spec);
bool is_composed(const std::string& spec);  // of several, by | or +
// Returns the name of a spec's operator; a composition's spec unchanged.
std::string operator_name(const std::string& spec);
bool mixes_channels(const std::string& spec);  // one of its operators does
// Returns the kinds of operators, from those that take least away: "other", "mask", "box",
// "gaussian_blur", "motion_blur", "pooling".
const std::vector<std::string>& operator_kinds();
// Returns the kind of the operator of a spec. A chain a | b has the last kind of its operators in
// the order of operator_kinds(): the smallest |A| and the most that is lost. A stack a + b has the
// first kind of its parts: the largest |A|, which limits the steps.
std::string kind_of(const std::string& spec);
// Returns the number of channels of the images that the spec takes; `any` if any number will do.
int64_t channels_of(const std::string& spec, int64_t any);
// Returns a user's measurement with white noise (OperatorEntry::whiten). The last operator of a
// chain decides; a stack must not need it.
Tensor whitened(const std::string& spec, const Tensor& y);
bool names_operator(const std::string& spec);  // begins with the name of a registered operator
// Returns whether two seeds may draw two operators from the spec: such a spec does not determine
// which operator made a measurement.
bool is_random(const std::string& spec);
std::vector<std::string> files_of(const std::string& spec);  // that the spec names

// Draws a number in the range for each image, (N, 1, 1, 1), for authors of operators. Parameters
// are drawn in float64 where the generator computes (eps/base/random.h), and moved to the device of
// `like` once they are complete.
Tensor draw_in(const Range& range, const Tensor& like, Rng& rng);
// Returns `is_random` of an operator that draws only the values that are ranges, for authors of
// operators.
std::function<bool(const Spec& spec)> random_ranges(std::vector<std::string> keys);

// EPS_OPERATOR({.name = ..., ...}); registers an operator, in the operator's file and once per
// name.
#define EPS_OPERATOR_AT_(number, ...) \
  [[maybe_unused]] const bool registered_operator_##number = register_operator(__VA_ARGS__)
#define EPS_OPERATOR_(number, ...) EPS_OPERATOR_AT_(number, __VA_ARGS__)
#define EPS_OPERATOR(...) EPS_OPERATOR_(__COUNTER__, __VA_ARGS__)

}  // namespace eps
