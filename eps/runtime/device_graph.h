// CUDA graphs: work for a GPU, recorded once and then replayed with one launch instead of
// thousands.
#pragma once

#include "eps/base/core.h"

namespace eps {

class DeviceGraph {
 public:
  // Returns whether this library can record on the device: the device is a GPU, and the library was
  // built with CUDA kernels.
  static bool available(at::Device device);

  // Runs the work `warm_up` times, until libraries have chosen their algorithms, and then records
  // it. The work must always use the same tensors, must not synchronise and must not draw random
  // numbers; tensors made by the work keep their addresses, and each replay overwrites them. An
  // error of the work is passed on.
  explicit DeviceGraph(const std::function<void()>& work, int warm_up = 3);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  void replay() const;

 private:
  struct Recording;
  std::unique_ptr<Recording> recording_;
};

}  // namespace eps
