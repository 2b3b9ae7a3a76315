// Server-sent events: what happens to a restoration, as it happens.
#include <nlohmann/json.hpp>

#include "eps/serve/endpoints.h"

namespace eps::serve {
namespace {

std::string event_text(const char* name, const Json& data) {
  return std::string("event: ") + name + "\ndata: " + json_text(data) + "\n\n";
}

// A `Teller` writes the differences between what a client knows of a job and its status. It holds
// no more than the last status, so that a slow client misses steps, and never the end.
class Teller {
 public:
  explicit Teller(std::shared_ptr<const Job> job) : job_(std::move(job)) {}

  // Waits for news, and writes them; false: the restoration has ended, or the client is gone.
  bool next(Sink& sink) {
    const auto [changes, status] = job_->wait(seen_, std::chrono::seconds(1));
    std::string text;
    if (is_first_ || changes > seen_) text = news(status);
    seen_ = changes;
    is_first_ = false;
    if (text.empty() && ++silent_ >= kMostSilent) text = ": keep-alive\n\n";
    if (!text.empty()) silent_ = 0;
    if (!text.empty() ? !sink.write(text) : !sink.is_open()) return false;
    return !is_finished(status.state);
  }

 private:
  static constexpr int kMostSilent = 10;  // seconds

  std::string news(const JobStatus& now) {
    std::string text;
    if (is_first_ || now.state != known_.state || now.position != known_.position)
      text += event_text("state", {{"state", to_string(now.state)}, {"position", now.position}});
    const bool new_stage = now.stage != known_.stage || now.done < known_.done;
    if (!now.stage.empty() && new_stage)
      text += event_text("stage", {{"name", now.stage}, {"total", now.total}});
    if (now.done > 0 && (new_stage || now.done != known_.done))
      text += event_text("evaluation",
                         {{"done", now.done},
                          {"total", now.total},
                          {"seconds_left", now.seconds_left ? Json(*now.seconds_left) : Json()},
                          {"preview", now.preview}});
    for (size_t k = known_.warnings.size(); k < now.warnings.size(); ++k)
      text += event_text("warning", {{"text", now.warnings[k]}});
    if (is_finished(now.state)) {
      Json end = {{"state", to_string(now.state)}};
      if (!now.error.empty()) end["error"] = now.error;
      text += event_text("end", end);
    }
    known_ = now;
    return text;
  }

  const std::shared_ptr<const Job> job_;
  uint64_t seen_ = 0;
  bool is_first_ = true;
  int silent_ = 0;
  JobStatus known_;
};

// A `Place` is one of a bounded number of streams.
class Place {
 public:
  explicit Place(Site& site) : site_(site) {
    if (++site_.streams > site_.limits.streams) {
      --site_.streams;
      throw Refusal{503, "too many streams of events are open", {{"Retry-After", "10"}}};
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { --site_.streams; }

 private:
  Site& site_;
};

}  // namespace

Answer events(Site& site, const Request& request) {
  const auto teller = std::make_shared<Teller>(job_of(site, request));
  const auto place = std::make_shared<Place>(site);
  Answer answer{.type = "text/event-stream"};
  answer.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  answer.next = [teller, place, &site](Sink& sink) {
    return !site.is_stopping && teller->next(sink);
  };
  return answer;
}

}  // namespace eps::serve
