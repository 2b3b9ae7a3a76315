// The delay between a change and its event at a client.
#include "eps/serve/http/listener.h"
#include "tests/serve/http/serving.h"

namespace eps::serve {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Events, AreOnTheWireAtOnce) {
  const c10::NoGradGuard no_gradients;
  const Folder folder;
  const std::string network = folder.file("network.safetensors");
  write_small_eps(network, {.sigma_y = "0.01..0.2"});
  Site site({}, [](const std::string& name) { return read_checkpoint(name); }, {network});
  Listener listener(site, {.token = "0123456789abcdef", .body_bytes = 1000});
  const int port = listener.open("127.0.0.1", 0);
  // One that fails keeps its place, and one that waits behind it could be changed by nobody else.
  const auto job = site.queue.add({.model = "absent", .folder = folder.file("job")});
  while (!is_finished(job->status().state)) std::this_thread::yield();
  job->change([](JobStatus& status) { status.state = JobState::running; });

  constexpr int kChanges = 20;
  std::vector<Clock::time_point> told(kChanges), seen(kChanges);
  std::thread teller([&] {
    for (int k = 0; k < kChanges; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      told[static_cast<size_t>(k)] = Clock::now();
      job->change([&](JobStatus& status) { status.warnings.push_back(std::to_string(k)); });
    }
    job->change([](JobStatus& status) { status.state = JobState::done; });
  });
  httplib::Client client("127.0.0.1", port);
  std::string text;
  size_t known = 0;
  client.Get("/v1/restorations/" + job->id + "/events?token=0123456789abcdef",
             [&](const char* data, size_t size) {
               text.append(data, size);
               while (known < kChanges && text.find("{\"text\":\"" + std::to_string(known) +
                                                    "\"}") != std::string::npos)
                 seen[known++] = Clock::now();
               return true;
             });
  teller.join();
  site.is_stopping = true;
  ASSERT_EQ(known, static_cast<size_t>(kChanges));
  std::vector<Clock::duration> delays;
  for (size_t k = 0; k < known; ++k) delays.push_back(seen[k] - told[k]);
  std::sort(delays.begin(), delays.end());
  // Of a machine that does other things at the same time, the middle counts.
  EXPECT_LT(delays[kChanges / 2], std::chrono::milliseconds(50));
  RecordProperty(
      "middle_microseconds",
      static_cast<int>(
          std::chrono::duration_cast<std::chrono::microseconds>(delays[kChanges / 2]).count()));
}

}  // namespace
}  // namespace eps::serve
