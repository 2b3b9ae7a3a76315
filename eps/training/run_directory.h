// The folder of a training run, and how it survives a crash.
//
//   config.json                     the resolved configuration
//   log.jsonl                       one JSON object a line
//   state-<images>.safetensors      the state to resume from; the last two are kept
//   network.safetensors             the averaged weights, for use
//   network-<images>.safetensors    the same every keep_every images, if that is set
//   preview-<images>.png            restorations
//   lock                            held by the process that trains
//
// Every file but the log is replaced in one step, after its bytes have reached the disk.
#pragma once

#include <optional>

#include "eps/io/file_lock.h"
#include "eps/model/checkpoint.h"

namespace eps::training {

// A `RunDirectory` reads and writes the folder of one run.
class RunDirectory {
 public:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}
  // create() makes and locks a new folder, which must be absent or empty (check_free()); open()
  // takes a folder with a run in it.
  static void check_free(const std::string& path);
  static std::unique_ptr<FileLock> create(const std::string& path, const std::string& config);
  static RunDirectory open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Locks the folder for one process. Throws an Error where another holds the lock.
  std::unique_ptr<FileLock> lock() const;
  std::string config() const;
  void write_config(const std::string& config) const;

  void log(const std::string& line) const;
  // Removes the temporary files of saves that were cut short.
  void sweep() const;
  // Drops the lines of steps after `images`, which will be done again, and a last line that was
  // cut.
  void rewind_log(int64_t images) const;

  // Writes the averaged network and then the state, which is the commit: a run whose state is whole
  // has its network. Then removes states older than the last two.
  void save(int64_t images, const Safetensors& state, const Safetensors& average) const;
  void write_network(const Safetensors& average) const;
  std::optional<Checkpoint> network() const;  // nothing where the file is absent or broken

  // Returns the newest state that can be read, or nothing if none was saved. States that cannot be
  // read are reported and passed over; if none can be read, an Error.
  struct State {
    int64_t images = 0;
    std::string name;
    Safetensors file;
  };
  std::optional<State> newest_state(const std::function<void(const std::string&)>& report) const;

 private:
  std::vector<int64_t> saved() const;  // images of the states, newest first
  std::string state_file(int64_t images) const;

  std::string path_;
};

}  // namespace eps::training
