// What a server takes, and how long it waits: everything beyond is refused in words.
#pragma once

#include <chrono>
#include <cstdint>

namespace eps::serve {

struct ServeLimits {
  // Of a request.
  uint64_t body_bytes = uint64_t{32} << 20;
  uint64_t bodies_bytes = uint64_t{256} << 20;  // of all requests that are read at one time
  int64_t pixels = int64_t{16} << 20;           // of a picture
  int64_t samples = 64;
  int64_t steps = 200;

  // Of connections; a connection has one request.
  int64_t connections = 400;
  int64_t streams = 300;                          // of events, among them
  std::chrono::milliseconds head_time{10000};     // until the head of a request is complete
  std::chrono::milliseconds stalled_time{20000};  // without a byte that comes or goes
  double least_rate = 16384;  // bytes a second, on average, of what takes longer than that

  // Of restorations.
  int64_t waiting = 8;
  std::chrono::seconds job_time{3600};   // of one restoration
  std::chrono::seconds kept_time{3600};  // of a result
  int64_t kept = 64;                     // results; the oldest is removed for another
  uint64_t kept_bytes = uint64_t{4} << 30;
  int64_t networks = 2;  // that stay loaded
};

}  // namespace eps::serve
