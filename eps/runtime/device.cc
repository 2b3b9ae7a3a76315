// The choice and preparation of a device.
#include "eps/runtime/device.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <charconv>

namespace eps {
namespace {

int64_t gpus() {
  if (!at::hasCUDA()) return 0;
  return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).deviceCount();
}

at::Device gpu(int64_t index) { return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index)); }

}  // namespace

void prepare_device(at::Device device) {
  if (!device.is_cuda()) return;
  if (device.has_index()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowFP16ReductionCuBLAS(false);
  at::globalContext().setBenchmarkCuDNN(true);
}

at::Device parse_device(const std::string& text, int64_t local_rank) {
  if (text == "auto") return gpus() > 0 ? gpu(local_rank % gpus()) : at::Device(at::kCPU);
  if (text == "cpu") return at::kCPU;
  check(text == "cuda" || text.rfind("cuda:", 0) == 0,
        "device ",
        text,
        ": wanted auto, cpu, cuda or cuda:K");
  const std::string number = text == "cuda" ? std::to_string(local_rank) : text.substr(5);
  int64_t index = -1;
  const auto [stop, status] = std::from_chars(number.data(), number.data() + number.size(), index);
  check(status == std::errc() && stop == number.data() + number.size() && index >= 0,
        "device ",
        text,
        ": wanted cuda:K with K = 0, 1, ...");
  check(index < gpus(), "device ", text, ": found ", gpus(), " GPUs");
  return gpu(index);
}

}  // namespace eps
