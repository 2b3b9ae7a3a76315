// Tensors that outlive the call that makes them.
#pragma once

#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

namespace eps {

// A `Lasting` scope makes tensors that are kept for later calls: they take part in derivatives even
// if the present caller is in inference mode, and are not differentiated themselves.
struct Lasting {
  const c10::InferenceMode no_inference{false};
  const c10::NoGradGuard no_grad{};
};

}  // namespace eps
