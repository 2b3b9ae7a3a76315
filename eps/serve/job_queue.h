// Restorations one after the other, on one thread, with a bounded number that wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "eps/serve/job.h"
#include "eps/serve/limits.h"

namespace eps::serve {

class JobQueue {
 public:
  using Run = std::function<void(Job& job)>;  // throws JobStopped, or an Error

  JobQueue(const ServeLimits& limits, Run run);
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;
  ~JobQueue();  // cancels what runs, and waits for its end

  // Throws a Refusal where too many wait.
  void check_free() const;
  std::shared_ptr<Job> add(JobRequest request);
  std::shared_ptr<Job> find(const std::string& id) const;  // null: there is none
  std::vector<std::shared_ptr<Job>> all() const;           // the oldest first
  int64_t waiting() const;

  // Cancels a restoration that waits or runs; removes one that is finished, with its files. Returns
  // whether it was removed.
  bool remove(const std::string& id);
  // Removes results that are too old, too many or too large; their files are gone at the end.
  void expire();

 private:
  void work();
  void run_one(const std::shared_ptr<Job>& job);
  void number_waiting();
  void erase(const std::shared_ptr<Job>& job);

  const ServeLimits limits_;
  const Run run_;
  mutable std::mutex mutex_;
  std::mutex expiring_;  // one at a time, so that no caller returns while another removes files
  std::condition_variable added_;
  std::vector<std::shared_ptr<Job>> jobs_;
  std::deque<std::shared_ptr<Job>> waiting_;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace eps::serve
