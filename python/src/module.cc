// The module eps._eps: what Python needs of the library, and nothing it does not.
#include "binding.h"
#include "eps/base/spec.h"
#include "eps/base/version.h"

namespace eps::python {
namespace {

// The classes eps.Error and torch.cuda.OutOfMemoryError of Python, which live as long as the
// process.
PyObject* error_class = nullptr;
PyObject* memory_class = nullptr;

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const Error& error) {
    PyErr_SetString(error_class, error.what());
  } catch (const c10::OutOfMemoryError& error) {
    PyErr_SetString(memory_class, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
  }
}

}  // namespace
}  // namespace eps::python

PYBIND11_MODULE(_eps, m) {
  using namespace eps::python;
  m.doc() = "The C++ library of eps.";
  error_class =
      PyErr_NewExceptionWithDoc("eps.Error",
                                "Wrong input, or a computation that failed: one line that "
                                "names the quantity, its value and what is allowed.",
                                PyExc_ValueError,
                                nullptr);
  py::object memory = py::module_::import("torch.cuda").attr("OutOfMemoryError");
  memory_class = memory.release().ptr();
  m.attr("Error") = py::reinterpret_borrow<py::object>(error_class);
  py::register_exception_translator(&translate);
  m.attr("version") = eps::version();
  bind_operators(m);
  bind_networks(m);
  bind_queries(m);
  bind_methods(m);
  bind_scores(m);
  bind_restore(m);
  bind_training(m);
  bind_files(m);
}
