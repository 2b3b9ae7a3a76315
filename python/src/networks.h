// Networks and denoisers as Python has them.
#pragma once

#include "binding.h"
#include "eps/model/network_denoiser.h"

namespace eps::python {

// A `BoundDenoiser` answers queries: a network of the library, or a function in Python.
struct BoundDenoiser {
  std::shared_ptr<const Denoiser> denoiser;
  NetworkInput input = {};
  int64_t channels = 0;    // of its images; 0: any
  int64_t resolution = 0;  // side of its images; 0: any
  at::Device device = at::kCPU;
  virtual ~BoundDenoiser() = default;
};

// A `BoundNetwork` is a checkpoint with its name.
struct BoundNetwork final : BoundDenoiser {
  BoundNetwork(std::string name, Checkpoint checkpoint);

  std::string name;
  Checkpoint checkpoint;
};

// Returns E[x0 | query] of a function in Python. Of a prior it is called with x (float32) and sigma
// (N or 1, 1, 1, 1), of any other input with the query itself, an _eps.Query.
std::shared_ptr<BoundDenoiser> python_denoiser(const py::object& function,
                                               const std::string& input,
                                               double sigma_min,
                                               double sigma_max,
                                               int64_t channels,
                                               const std::string& device);

}  // namespace eps::python
