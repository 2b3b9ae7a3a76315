// DeviceGraph in a library built without a CUDA compiler, which cannot record.
#include "eps/runtime/device_graph.h"

namespace eps {

struct DeviceGraph::Recording {};

bool DeviceGraph::available(at::Device) { return false; }

DeviceGraph::DeviceGraph(const std::function<void()>&, int) {
  fail("device graph: this library was built without CUDA");
}

DeviceGraph::~DeviceGraph() = default;

void DeviceGraph::replay() const {}

}  // namespace eps
