// A thread for each connection.
#include "eps/serve/http/connection_threads.h"

#include <ATen/Parallel.h>

#include <system_error>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace eps::serve {
namespace {

thread_local bool is_turned_away = false;

// Keeps what this thread computes to one core: the others are the restorations'.
void compute_on_one_core() {
  at::get_num_threads();  // sets the number of this thread once
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
}

}  // namespace

bool ConnectionThreads::turns_away() { return is_turned_away; }

// Starts a thread if none is idle; the mutex is held. Where the system has no more threads, a
// connection waits for those that there are.
bool ConnectionThreads::has_thread_for_another() {
  if (idle_ > std::ssize(waiting_)) return true;
  try {
    std::thread([this] { serve(); }).detach();
    ++threads_;
  } catch (const std::system_error&) {
  }
  return threads_ > 0;
}

void ConnectionThreads::enqueue(std::function<void()> connection) {
  {
    const std::lock_guard lock(mutex_);
    if (open_ < most_ && has_thread_for_another()) {
      ++open_;
      waiting_.push_back(std::move(connection));
      changed_.notify_one();
      return;
    }
  }
  is_turned_away = true;
  connection();
  is_turned_away = false;
}

void ConnectionThreads::serve() {
  constexpr std::chrono::seconds kIdle(10);
  compute_on_one_core();
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait_for(lock, kIdle, [&] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) break;
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
    --open_;
  }
  --threads_;
  changed_.notify_all();
}

void ConnectionThreads::shutdown() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return threads_ == 0; });
}

}  // namespace eps::serve
