// CUDA graphs through libtorch.
#include "eps/runtime/device_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace eps {

struct DeviceGraph::Recording {
  at::cuda::CUDAGraph graph;
};

namespace {

// Ends a recording whose work has failed. CUDA calls it invalid where the work did what cannot be
// recorded, and then libtorch leaves its allocator in the recording's pool.
void give_up(at::cuda::CUDAGraph& graph) {
  try {
    graph.capture_end();
  } catch (const c10::Error&) {
    c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), graph.pool());
  }
}

}  // namespace

bool DeviceGraph::available(at::Device device) { return device.is_cuda(); }

DeviceGraph::DeviceGraph(const std::function<void()>& work, int warm_up)
    : recording_(std::make_unique<Recording>()) {
  const auto current = c10::cuda::getCurrentCUDAStream();
  // CUDA cannot record the default stream.
  const auto side = c10::cuda::getStreamFromPool();
  current.synchronize();
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    for (int i = 0; i < warm_up; ++i) work();
    side.synchronize();
    recording_->graph.capture_begin();
    try {
      work();
    } catch (...) {
      give_up(recording_->graph);
      throw;
    }
    recording_->graph.capture_end();
  }
  side.synchronize();
}

DeviceGraph::~DeviceGraph() = default;

void DeviceGraph::replay() const { recording_->graph.replay(); }

}  // namespace eps
