// What the answers of a server are made from.
#pragma once

#include <atomic>

#include "eps/serve/exchange.h"
#include "eps/serve/job_queue.h"
#include "eps/serve/networks.h"
#include "eps/serve/private_folder.h"

namespace eps::serve {

// A `Workbench` lets one thread at a time compute beside the restorations, so that many requests
// take no more than one core from them.
class Workbench {
 public:
  // Throws a Refusal where others are at the bench for too long.
  std::unique_lock<std::timed_mutex> take();

 private:
  std::timed_mutex mutex_;
};

// A `Site` holds everything that requests share.
struct Site {
  Site(const ServeLimits& limits, Networks::Load load, const UsualNetworks& usual);

  const ServeLimits limits;
  std::string device = {};
  std::atomic<bool> is_stopping = false;
  std::atomic<int64_t> streams = 0;  // of events
  PrivateFolder folder;
  Networks networks;
  Workbench bench;
  JobQueue queue;  // the last: its thread uses the others
};

// Returns the answer to a request; throws a Refusal, or an Error for wrong input.
Answer answer(Site& site, const Request& request);

}  // namespace eps::serve
