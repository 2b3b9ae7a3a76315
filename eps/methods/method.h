// A method turns a problem and a denoiser into samples of p(x0 | y).
//
// Each method has one file in methods/: its fields, one function, one registration. All methods
// work on the data's own scale, x = x0 + sigma n, in float64, with norms and steps taken image by
// image, so that a noise level and a step size mean the same in each, whatever the batch.
#pragma once

#include "eps/base/random.h"
#include "eps/base/spec.h"
#include "eps/methods/oracle.h"

namespace eps {

struct Method {
  std::string name;
  std::string summary;      // one line for `eps list`
  NetworkInput input = {};  // the least that its network sees (serves())
  std::vector<Field> fields;
  // Kinds of operators (operator_kinds()) may replace the fields' defaults: "scale=5,eta=0.5".
  std::map<std::string, std::string> kinds = {};
  // Draws one sample for each image of `noise`, N(0, I) of (N, C, H, W) in float64 on the problem's
  // device.
  std::function<Tensor(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng)> sample;
};

// Returns every registered method, by name. Two methods of one name are an Error.
const std::map<std::string, Method>& methods();
bool register_method(Method method);  // false if the name is taken

// A `MethodChoice` holds a method and its options: "dps", or "dps:scale=3,steps=100". Values that
// are not given are those for the kind of the task's operator, if the method has any, and the
// method's own otherwise, as they are without a task. task: a name or an operator's spec. steps > 0
// sets the field `steps`. All values are checked against their fields.
struct MethodChoice {
  const Method& method;
  Spec options;

  // Returns this choice with another value, which is checked like one in a spec:
  // choose_method("eps").with("sigma_min", sigma_y / 5). A number keeps its last bit.
  template <class Value>
  MethodChoice with(const std::string& field, const Value& value) const {
    return {method, options.with(field, value).resolve(method.fields)};
  }
};
MethodChoice choose_method(const std::string& spec,
                           const std::string& task = "",
                           int64_t steps = 0);

// The name of the method that a network with this input is for: eps for eps_precision.
std::string method_served_by(const NetworkInput& network);

struct Samples {
  Tensor images;  // (N, C, H, W), float64
  Cost cost;      // of all of them together
};
struct SampleOptions {
  int64_t vjp_batch = 0;  // images whose derivatives are in memory at once; 0: all
  std::function<void(const Tensor& estimates)> on_estimate = {};  // Oracle::on_estimate
  std::function<void(int64_t images)> on_evaluation = {};
};
// Draws N samples of the shape (N, C, H, W) on the device of y, whose batch is N, or 1 for N
// samples of one posterior. All random numbers come from rng.
Samples sample_posterior(const MethodChoice& choice,
                         const Denoiser& denoiser,
                         const Problem& problem,
                         const Shape& shape,
                         Rng& rng,
                         const SampleOptions& options = {});

// Returns the cost of one sample, measured by drawing one with a small exact prior.
Cost measured_cost(const MethodChoice& choice);

// EPS_METHOD({.name = ..., ...}); registers a method, once per name, in the method's file.
#define EPS_METHOD_AT_(number, ...) \
  [[maybe_unused]] const bool registered_method_##number = register_method(__VA_ARGS__)
#define EPS_METHOD_(number, ...) EPS_METHOD_AT_(number, __VA_ARGS__)
#define EPS_METHOD(...) EPS_METHOD_(__COUNTER__, __VA_ARGS__)

}  // namespace eps
