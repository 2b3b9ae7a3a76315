// Methods: from a problem and a denoiser to samples of p(x0 | y).
//
// Each is one file in methods/: what it takes, one function, one registration. All of them work on
// the data's own scale, x = x0 + sigma n, in float64, with norms and steps taken image by image, so
// that a noise level and a step size mean the same in each, whatever the batch.
#pragma once

#include "eps/base/random.h"
#include "eps/base/spec.h"
#include "eps/methods/oracle.h"

namespace eps {

struct Method {
  std::string name;
  std::string summary;      // one line for `eps list`
  NetworkInput input = {};  // what its network sees, or more (serves())
  std::vector<Field> fields;
  // Where a task wants other values than the fields' own: "scale=5,eta=0.5" by its name.
  std::map<std::string, std::string> tasks = {};
  // One sample for each image of `noise`, N(0, I) of (N, C, H, W) in float64 on the problem's
  // device.
  std::function<Tensor(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng)> sample;
};

// Every registered method, by name; an Error if two of them have one name.
const std::map<std::string, Method>& methods();
bool register_method(Method method);  // false if the name is taken

// A method with its options: "dps", or "dps:scale=3,steps=100". Values that are not given are those
// for the task, if it has any, and the method's own otherwise. steps > 0 stands for its field
// `steps`.
struct MethodChoice {
  const Method& method;
  Spec options;
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
  std::function<void(int64_t images)> on_evaluation = {};
};
// N samples of the shape (N, C, H, W) on the device of y, whose batch is N, or 1 for N samples of
// one posterior. All randomness is rng's.
Samples sample_posterior(const MethodChoice& choice,
                         const Denoiser& denoiser,
                         const Problem& problem,
                         const Shape& shape,
                         Rng& rng,
                         const SampleOptions& options = {});

// What one sample costs, found by drawing one of a small exact prior.
Cost measured_cost(const MethodChoice& choice);

// In a method's file, once per name: EPS_METHOD({.name = ..., ...});
#define EPS_METHOD_AT_(number, ...) \
  [[maybe_unused]] const bool registered_method_##number = register_method(__VA_ARGS__)
#define EPS_METHOD_(number, ...) EPS_METHOD_AT_(number, __VA_ARGS__)
#define EPS_METHOD(...) EPS_METHOD_(__COUNTER__, __VA_ARGS__)

}  // namespace eps
