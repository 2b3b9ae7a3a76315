// The folder of a training run.
#include "eps/training/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "eps/base/json_fields.h"
#include "eps/io/file.h"
#include "eps/io/temporary.h"
#include "eps/training/run_log.h"

namespace eps::training {
namespace {

namespace fs = std::filesystem;

const std::string kConfig = "config.json", kLog = "log.jsonl", kNetwork = "network.safetensors",
                  kLock = "lock";

}  // namespace

void RunDirectory::check_free(const std::string& path) {
  if (!fs::exists(path)) return;
  check(fs::is_directory(path), path, ": exists and is no folder");
  const bool begun = fs::exists(path + "/" + kConfig);
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    // A process that was killed before it had a configuration leaves a lock and a temporary file.
    if (!begun && (name == kLock || is_temporary_of(kConfig, name))) continue;
    fail(path,
         ": exists and is not empty; choose another folder",
         begun ? ", or resume the run in it" : "");
  }
}

std::unique_ptr<FileLock> RunDirectory::create(const std::string& path, const std::string& config) {
  std::error_code error;
  fs::create_directories(path, error);
  check(!error, path, ": cannot be made: ", error.message());
  const RunDirectory run(path);
  auto lock = run.lock();
  check_free(path);
  run.write_config(config);
  return lock;
}

std::unique_ptr<FileLock> RunDirectory::lock() const {
  auto lock = std::make_unique<FileLock>(file(kLock), FileLock::IfHeld::give_up);
  check(lock->held(), path_, ": another process is training in this folder");
  return lock;
}

RunDirectory RunDirectory::open(const std::string& path) {
  check(fs::is_regular_file(path + "/" + kConfig),
        path,
        ": no training run there: it has no ",
        kConfig);
  return RunDirectory(path);
}

std::string RunDirectory::config() const { return read_file(file(kConfig)); }

void RunDirectory::write_config(const std::string& config) const {
  write_file_atomically(file(kConfig), config + "\n");
}

void RunDirectory::log(const std::string& line) const {
  std::ofstream out(file(kLog), std::ios::app);
  out << line << '\n' << std::flush;
  check(out.good(), file(kLog), ": cannot be written to");
}

void RunDirectory::rewind_log(int64_t images) const {
  if (!fs::exists(file(kLog))) return;
  std::string kept;
  for (const LogLine& line : read_log(file(kLog))) {
    int64_t seen = 0;
    JsonFields(line.json, line.where).optional("images", seen);
    if (seen <= images) kept += line.text + '\n';
  }
  write_file_atomically(file(kLog), kept);
}

std::string RunDirectory::state_file(int64_t images) const {
  return file(fmt::format("state-{:012d}.safetensors", images));
}

std::vector<int64_t> RunDirectory::saved() const {
  std::vector<int64_t> images;
  for (const auto& entry : fs::directory_iterator(path_)) {
    int64_t number = 0;
    const std::string name = entry.path().filename();
    if (std::sscanf(name.c_str(), "state-%ld.safetensors", &number) == 1 &&
        entry.path() == fs::path(state_file(number)))
      images.push_back(number);
  }
  std::sort(images.rbegin(), images.rend());
  return images;
}

void RunDirectory::sweep() const { remove_temporaries(path_); }

void RunDirectory::write_network(const Safetensors& average) const {
  write_safetensors(file(kNetwork), average);
}

std::optional<Checkpoint> RunDirectory::network() const {
  try {
    return read_checkpoint(file(kNetwork));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void RunDirectory::save(int64_t images,
                        const Safetensors& state,
                        const Safetensors& average) const {
  write_network(average);
  write_safetensors(state_file(images), state);
  const std::vector<int64_t> all = saved();
  for (size_t i = 2; i < all.size(); ++i) fs::remove(state_file(all[i]));
}

std::optional<RunDirectory::State> RunDirectory::newest_state(
    const std::function<void(const std::string&)>& report) const {
  const std::vector<int64_t> all = saved();
  if (all.empty()) return std::nullopt;
  for (const int64_t images : all) {
    try {
      return State{images, state_file(images), read_safetensors(state_file(images))};
    } catch (const Error& error) {
      if (report) report(std::string(error.what()) + "; taking the state before it");
    }
  }
  fail(path_, ": none of its states can be read");
}

}  // namespace eps::training
