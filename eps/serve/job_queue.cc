// Restorations one after the other.
#include "eps/serve/job_queue.h"

#include <algorithm>
#include <filesystem>
#include <new>

#include "eps/io/file.h"
#include "eps/serve/exchange.h"
#include "eps/serve/job_run.h"
#include "eps/serve/private_folder.h"

namespace eps::serve {
namespace {

uint64_t bytes_below(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entries(folder, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    std::error_code unreadable;
    const auto size = entries->file_size(unreadable);
    if (!unreadable) bytes += size;
  }
  return bytes;
}

}  // namespace

JobQueue::JobQueue(const ServeLimits& limits, Run run)
    : limits_(limits), run_(std::move(run)), worker_([this] { work(); }) {}

JobQueue::~JobQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& job : jobs_) job->cancel();
  }
  added_.notify_all();
  worker_.join();
}

void JobQueue::check_free() const {
  const std::lock_guard lock(mutex_);
  if (std::ssize(waiting_) >= limits_.waiting)
    throw Refusal{429,
                  "the queue is full: " + std::to_string(limits_.waiting) + " restorations wait",
                  {{"Retry-After", "10"}}};
}

std::shared_ptr<Job> JobQueue::add(JobRequest request) {
  const auto job = std::make_shared<Job>(random_digits(8), std::move(request));
  check_free();
  {
    const std::lock_guard lock(mutex_);
    if (std::ssize(waiting_) < limits_.waiting) {
      jobs_.push_back(job);
      waiting_.push_back(job);
      number_waiting();
      added_.notify_one();
      return job;
    }
  }
  check_free();
  throw Refusal{429, "the queue is full", {{"Retry-After", "10"}}};
}

std::shared_ptr<Job> JobQueue::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->id == id; });
  return found == jobs_.end() ? nullptr : *found;
}

std::vector<std::shared_ptr<Job>> JobQueue::all() const {
  const std::lock_guard lock(mutex_);
  return jobs_;
}

int64_t JobQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(waiting_);
}

bool JobQueue::remove(const std::string& id) {
  const std::shared_ptr<Job> job = find(id);
  if (!job) throw Refusal{404, "there is no such restoration"};
  {
    const std::lock_guard lock(mutex_);
    const auto place = std::find(waiting_.begin(), waiting_.end(), job);
    if (place != waiting_.end()) {
      waiting_.erase(place);
      job->change([](JobStatus& status) {
        status.state = JobState::cancelled;
        status.position = 0;
        status.done_at = unix_time();
      });
      number_waiting();
      return false;
    }
  }
  if (!is_finished(job->status().state)) {
    job->cancel();
    return false;
  }
  erase(job);
  return true;
}

void JobQueue::erase(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }
  remove_tree(job->request.folder);
}

void JobQueue::expire() {
  const std::lock_guard alone(expiring_);
  const auto oldest_too_much = [&]() -> std::shared_ptr<Job> {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Job> oldest;
    int64_t finished = 0;
    uint64_t bytes = 0;
    for (const auto& job : jobs_) {
      if (!is_finished(job->status().state)) continue;
      if (!oldest) oldest = job;
      ++finished;
      bytes += bytes_below(job->request.folder);
    }
    if (!oldest) return nullptr;
    const double age = unix_time() - oldest->status().done_at;
    // One result is kept whatever its size.
    const bool too_much = finished > limits_.kept || (finished > 1 && bytes > limits_.kept_bytes);
    return too_much || age > static_cast<double>(limits_.kept_time.count()) ? oldest : nullptr;
  };
  while (const auto job = oldest_too_much()) erase(job);
}

// Tells those that wait their places; the mutex is held.
void JobQueue::number_waiting() {
  for (size_t k = 0; k < waiting_.size(); ++k)
    waiting_[k]->change([k](JobStatus& status) { status.position = static_cast<int64_t>(k) + 1; });
}

void JobQueue::work() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      job = waiting_.front();
      waiting_.pop_front();
      job->change([](JobStatus& status) {
        status.state = JobState::running;
        status.position = 0;
      });
      number_waiting();
    }
    run_one(job);
    expire();
  }
}

void JobQueue::run_one(const std::shared_ptr<Job>& job) {
  JobState state = JobState::failed;
  std::string words;
  try {
    run_(*job);
    state = JobState::done;
  } catch (const JobStopped& stopped) {
    words = stopped.words;
    if (words.empty()) state = JobState::cancelled;
  } catch (const c10::Error& error) {
    words = error.what_without_backtrace();
  } catch (const std::bad_alloc&) {
    words = "the memory does not suffice";
  } catch (const std::exception& error) {
    words = error.what();
  }
  job->change([&](JobStatus& status) {
    status.state = state;
    status.error = public_words(words.substr(0, words.find('\n')), job->request.folder);
    status.done_at = unix_time();
    status.seconds_left = {};
  });
}

}  // namespace eps::serve
