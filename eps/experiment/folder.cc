// The folder of an experiment's results.
#include "eps/experiment/folder.h"

#include <filesystem>

#include "eps/base/json_fields.h"
#include "eps/experiment/experiment_json.h"
#include "eps/io/file.h"
#include "eps/io/file_lock.h"

namespace eps::experiment {
namespace {

namespace fs = std::filesystem;

// Returns the values that all cells of a folder share.
Json protocol(const Experiment& e, const std::string& images_hash) {
  return {{"title", e.title},
          {"images", e.images},
          {"samples", e.samples},
          {"sigma_y", e.sigma_y},
          {"seed", e.seed},
          {"images_hash", images_hash}};
}

// Throws unless the folder is empty but for files of a process that has just begun or was killed.
void check_free(const std::string& path) {
  if (!fs::exists(path)) return;
  check(fs::is_directory(path), path, ": is a file; a folder is wanted");
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name == "lock" || name.starts_with("experiment.json");
    // Everything else comes after experiment.json: it may have come since we looked.
    check(ours || fs::exists(path + "/experiment.json"),
          path,
          ": holds ",
          name,
          ", and is no folder of an experiment; a new or an empty one is wanted");
  }
}

void check_same(const std::string& path, const Json& wanted) {
  const std::string file = path + "/experiment.json";
  const Json there = parse_json(read_file(file), file);
  JsonFields fields(there, file);
  const Json& protocol = fields.at("protocol");
  check(protocol.is_object(), file, ": protocol must be a JSON object");
  for (const auto& [name, value] : wanted.items()) {
    const Json own = protocol.value(name, Json());
    check(own == value || name != "images_hash",
          path,
          ": holds another experiment, of other images; another folder is wanted");
    check(own == value,
          path,
          ": holds another experiment: its ",
          name,
          " is ",
          json_excerpt(own),
          ", not ",
          json_excerpt(value),
          "; another folder is wanted");
  }
}

}  // namespace

void open_experiment_folder(const std::string& path,
                            const Experiment& experiment,
                            const std::string& images_hash) {
  const std::string file = path + "/experiment.json";
  const Json wanted = protocol(experiment, images_hash);
  // The check comes before anything is made there: the folder may be anyone's.
  if (!fs::exists(file)) check_free(path);
  std::error_code error;
  fs::create_directories(path, error);
  check(!error, path, ": cannot be made: ", error.message());
  const FileLock lock(path + "/lock", FileLock::IfHeld::wait);
  if (fs::exists(file)) check_same(path, wanted);
  remove_temporaries(path);
  const Json json = {{"protocol", wanted}, {"experiment", experiment_json(experiment)}};
  write_file_atomically(file, json_text(json, 2) + "\n");
}

}  // namespace eps::experiment
