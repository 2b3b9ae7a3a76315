// A thread for each connection, up to a number; those beyond are turned away at once.
#pragma once

#include <httplib.h>

namespace eps::serve {

class ConnectionThreads final : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(int64_t most) : most_(most) {}

  void enqueue(std::function<void()> connection) override;
  void shutdown() override;  // waits for the end of all

  // Returns whether the connection of this thread is to be turned away.
  static bool turns_away();

 private:
  void serve();
  bool has_thread_for_another();

  const int64_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::function<void()>> waiting_;
  int64_t threads_ = 0, idle_ = 0, open_ = 0;
  bool stopping_ = false;
};

}  // namespace eps::serve
