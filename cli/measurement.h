// A user's measurement: the operator that made it, as options say, and the problem it poses.
#pragma once

#include <CLI/CLI.hpp>

#include "eps/nets/config.h"
#include "eps/operators/task.h"

namespace eps::cli {

// Exactly one of them is to be given.
struct OperatorOptions {
  std::string mask, kernel, motion, gaussian, downscale, spec;
};
void add_operator_options(CLI::App& verb, OperatorOptions& options);

struct MeasuringOperator {
  std::string name;  // of the registered operator
  std::string text;  // as a spec, for people: its file names may be more than a spec can hold
  Draw draw;
  int64_t measurement_dims = 4;
  std::function<Shape(const Shape& y)> image_shape;
};
// For images of this side. None or several are an Error that lists the options.
MeasuringOperator chosen_operator(const OperatorOptions& options, int64_t side);

// The images that the network takes, and its name for messages.
struct Target {
  std::string model;
  const nets::UNetConfig& network;
  at::Device device;
};

// y = A x0 + sigma_y n, sigma_y yet to be set. A grey image is one channel, also where the network
// takes more.
struct Measurement {
  Problem problem;  // batch 1, float64 on the device
  Tensor truth;     // (1, C, H, W) on the CPU, where it is simulated; undefined otherwise
};

// A picture (8 bits, of [-1, 1]) or an array in the measurement's own shape, with or without the
// batch. What the network cannot have made and an operator that is drawn at random are Errors.
Measurement read_measurement(const std::string& path,
                             const MeasuringOperator& made_by,
                             const Target& target);

// The measurement of a clean image of the network's size, as the seed has it.
Measurement simulate_measurement(const std::string& path,
                                 const MeasuringOperator& made_by,
                                 double sigma_y,
                                 uint64_t seed,
                                 const Target& target);

}  // namespace eps::cli
