// A restoration that a server was asked for, as all its threads see it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "eps/restore/restore.h"

namespace eps::serve {

enum class JobState { queued, running, done, failed, cancelled };
std::string to_string(JobState state);
inline bool is_finished(JobState state) { return state > JobState::running; }

// A `JobRequest` holds what is to be restored, and how.
struct JobRequest {
  RestorationRequest restoration = {};  // its files are in `folder`
  std::string model = {};
  std::string name = {};     // for people
  std::string command = {};  // that does the same on the command line
  std::string folder = {};   // private; files of the result are in its folder `result`
  std::string picture = {};  // the path of the picture as it was given
  std::string shown = {};    // its name in the command and the report
  int64_t width = 0, height = 0;

  std::string result() const { return folder + "/result"; }
};

struct JobStatus {
  JobState state = JobState::queued;
  int64_t position = 0;  // among those that wait, from 1; 0: it does not
  std::string stage = {};
  int64_t total = 0, done = 0;  // evaluations of the stage
  std::optional<double> seconds_left = {};
  int64_t preview = 0;  // the evaluation of the newest running mean; 0: there is none
  int64_t samples = 0;  // of a restoration that is done
  std::vector<std::string> warnings = {};
  std::string error = {};           // of one that failed
  double created = 0, done_at = 0;  // seconds since 1970
};

// A `Preview` is the running mean after an evaluation.
struct Preview {
  int64_t evaluation = 0;                            // 0: there is none yet
  Tensor picture = {};                               // uint8 (C, H, W)
  std::shared_ptr<const std::string> png = nullptr;  // once a client has asked for it
};

// A `JobStopped` ends a running restoration: cancelled, or failed if there are words.
struct JobStopped {
  std::string words = {};
};

class Job {
 public:
  Job(std::string id, JobRequest request);
  Job(const Job&) = delete;

  const std::string id;
  const JobRequest request;

  JobStatus status() const;
  void change(const std::function<void(JobStatus& status)>& edit);
  // Returns the number of changes and the status, as soon as there are more than `seen` changes or
  // the time is over.
  std::pair<uint64_t, JobStatus> wait(uint64_t seen, std::chrono::milliseconds most) const;

  void cancel();
  bool is_cancelled() const { return cancelled_; }

  Preview preview() const;
  void set_preview(Preview preview);  // unless there is one of a later evaluation

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  JobStatus status_;
  uint64_t changes_ = 0;
  std::atomic<bool> cancelled_ = false;
  Preview preview_;
};

// Returns the seconds since 1970.
double unix_time();

}  // namespace eps::serve
