// eps train for Python.
#include <optional>

#include "binding.h"
#include "eps/training/run.h"

namespace eps::python {
namespace {

using training::TrainingConfig;

// Returns the fields of a run with their defaults, as JSON, and their help.
std::pair<std::string, std::map<std::string, std::string>> fields() {
  TrainingConfig config;
  std::map<std::string, std::string> help;
  training::for_each_field(
      config, [&](const char* name, auto&, const char* words, bool) { help[name] = words; });
  return {training::to_json(config), help};
}

// Trains in a new folder, or resumes the run in it.
void train(const std::string& folder,
           const std::string& json,
           bool resume,
           const py::object& progress,
           const py::object& log,
           const py::object& say) {
  const Held on_progress = hold(progress), on_log = hold(log), on_say = hold(say);
  // Ctrl-C ends the run at the next step, after a checkpoint, also where it meets a callback.
  std::optional<py::error_already_set> interrupt;
  const auto tell = [&](const Held& function, const auto&... news) {
    const py::gil_scoped_acquire gil;
    if (interrupt || function->is_none()) return;
    try {
      (*function)(news...);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      interrupt.emplace(error);
    }
  };
  training::TrainingHooks hooks;
  hooks.progress = [&](int64_t seen, int64_t total) { tell(on_progress, "images", seen, total); };
  hooks.say = [&](const std::string& line) { tell(on_say, line); };
  hooks.log = [&](const std::string& line) { tell(on_log, line); };
  hooks.stop = [&] {
    const py::gil_scoped_acquire gil;
    if (!interrupt && PyErr_CheckSignals() != 0) interrupt.emplace();
    return interrupt.has_value();
  };
  {
    const py::gil_scoped_release released;
    if (resume) {
      training::resume_training(
          folder,
          [&](const TrainingConfig& stored) {
            return training::parse_training_config(json, "train", stored);
          },
          hooks);
    } else {
      training::train(training::parse_training_config(json, "train"), folder, hooks);
    }
  }
  if (interrupt) throw py::error_already_set(*interrupt);
}

}  // namespace

void bind_training(py::module_& m) {
  m.def("training_fields", &fields);
  m.def("train", &train);
}

}  // namespace eps::python
