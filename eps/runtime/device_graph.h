// Work for a GPU that is recorded once and replayed from then on: one launch instead of thousands.
#pragma once

#include "eps/base/core.h"

namespace eps {

class DeviceGraph {
 public:
  // Whether this library can record on the device: it was built with CUDA kernels, and it is a GPU.
  static bool available(at::Device device);

  // Runs the work a few times, until libraries have made their choices, and then records it. The
  // work must always use the same tensors, wait for nothing and draw no random numbers; tensors it
  // makes keep their places and are overwritten by each replay.
  explicit DeviceGraph(const std::function<void()>& work);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  void replay() const;

 private:
  struct Recording;
  std::unique_ptr<Recording> recording_;
};

}  // namespace eps
