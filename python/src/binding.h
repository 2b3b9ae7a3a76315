// What the files of the Python module share.
//
// Python objects reach C++ through torch's own caster, so that tensors are shared. Functions that
// compute run without the GIL; what calls back into Python takes it.
#pragma once

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/pybind.h>

#include "eps/base/core.h"

namespace eps::python {

namespace py = pybind11;
using Release = py::call_guard<py::gil_scoped_release>;

// A `Held` is a Python object in the hands of C++ code that may run without the GIL.
using Held = std::shared_ptr<py::object>;
inline Held hold(py::object object) {
  return {new py::object(std::move(object)), [](py::object* held) {
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

// A `Watch` reports the progress of a computation, and ends it for Ctrl-C and for what the Python
// function raises: advance() throws then. report: a function (stage, done, total), or None.
class Watch {
 public:
  explicit Watch(const py::object& report) : report_(hold(report)) {}

  void start(const std::string& stage, int64_t total) {
    stage_ = stage;
    total_ = total;
    done_ = 0;
    advance(0);
  }
  void advance(int64_t count) {
    done_ += count;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!report_->is_none()) (*report_)(stage_, done_, total_);
  }

 private:
  Held report_;
  std::string stage_;
  int64_t done_ = 0, total_ = 0;
};

// Returns whether autograd records what is done with x.
inline bool is_recorded(const Tensor& x) {
  return c10::GradMode::is_enabled() && x.requires_grad();
}

// Throws an Error unless x is a dense tensor of float32 or float64 on the device. Returns x without
// a lazy change of sign.
Tensor plain_tensor(const char* name, const Tensor& x, at::Device device);
// Throws an Error unless x is also (N, ...) of these sizes, N >= 1, and N = `maps` where an
// operator has several.
Tensor plain_batch(
    const char* name, const Tensor& x, at::Device device, const Shape& sizes, int64_t maps = 1);
// Returns a number for all images or one for each, finite and > 0 or >= 0, in a shape that
// broadcasts over images: 0-dimensional on the CPU, or (N, 1, 1, 1) on the device of the images.
Tensor level(const char* name, const Tensor& value, const Tensor& images, bool may_be_zero);

void bind_operators(py::module_& m);
void bind_networks(py::module_& m);
void bind_queries(py::module_& m);
void bind_methods(py::module_& m);
void bind_scores(py::module_& m);
void bind_restore(py::module_& m);
void bind_training(py::module_& m);
void bind_files(py::module_& m);

}  // namespace eps::python
