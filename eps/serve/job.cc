// A restoration that a server was asked for.
#include "eps/serve/job.h"

#include <array>

namespace eps::serve {

std::string to_string(JobState state) {
  constexpr std::array<const char*, 5> kNames = {
      "queued", "running", "done", "failed", "cancelled"};
  return kNames.at(static_cast<size_t>(state));
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Job::Job(std::string job_id, JobRequest what) : id(std::move(job_id)), request(std::move(what)) {
  status_.created = unix_time();
}

JobStatus Job::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Job::change(const std::function<void(JobStatus& status)>& edit) {
  {
    const std::lock_guard lock(mutex_);
    edit(status_);
    ++changes_;
  }
  changed_.notify_all();
}

std::pair<uint64_t, JobStatus> Job::wait(uint64_t seen, std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] { return changes_ > seen; });
  return {changes_, status_};
}

void Job::cancel() {
  cancelled_ = true;
  changed_.notify_all();
}

void Job::set_preview(Preview preview) {
  const std::lock_guard lock(mutex_);
  if (preview.evaluation >= preview_.evaluation) preview_ = std::move(preview);
}

Preview Job::preview() const {
  const std::lock_guard lock(mutex_);
  return preview_;
}

}  // namespace eps::serve
