// A restoration run for a server.
#include "eps/serve/job_run.h"

#include <filesystem>

#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/report/restored_files.h"
#include "eps/serve/private_folder.h"

namespace eps::serve {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns the running mean as a picture of at most kPreviewSide pixels a side.
Tensor preview_of(const Tensor& mean) {
  const int64_t side = std::max(mean.size(1), mean.size(2));
  const int64_t factor = (side + kPreviewSide - 1) / kPreviewSide;
  const bool reduced = factor > 1 && std::min(mean.size(1), mean.size(2)) >= factor;
  return to_uint8(reduced ? at::avg_pool2d(mean.unsqueeze(0), factor)[0] : mean);
}

// A `Watcher` tells a job of its restoration's progress, and stops it.
class Watcher {
 public:
  Watcher(Job& job, const ServeLimits& limits) : job_(job), limits_(limits) {}

  void listen(RestorationRequest& request) {
    request.on_stage = [this](const std::string& name, int64_t total) { begin(name, total); };
    request.on_warning = [this](const std::string& warning) {
      job_.change([&](JobStatus& status) {
        status.warnings.push_back(public_words(warning, job_.request.folder));
      });
    };
    request.options.on_mean = [this](const std::function<Tensor()>& mean) { look(mean); };
    request.options.on_evaluation = [this](int64_t count) { advance(count); };
  }

  void stop_if_asked() const {
    if (job_.is_cancelled()) throw JobStopped{};
    if (seconds_since(start_) > static_cast<double>(limits_.job_time.count()))
      throw JobStopped{"stopped after " + std::to_string(limits_.job_time.count()) +
                       " s, the longest that a restoration may take here"};
  }

 private:
  void begin(const std::string& name, int64_t total) {
    stop_if_asked();
    stage_start_ = Clock::now();
    total_ = std::max<int64_t>(total, 1);
    done_ = 0;
    job_.change([&](JobStatus& status) {
      status.stage = name;
      status.total = total_;
      status.done = 0;
      status.seconds_left = {};
    });
  }

  // Keeps the running mean. Of quick evaluations only some are looked at, so that neither this nor
  // the clients who fetch it take more than a small part of the time.
  void look(const std::function<Tensor()>& mean) {
    constexpr double kLeastSeconds = 0.1, kShare = 0.02;
    if (seconds_since(last_look_) < std::max(kLeastSeconds, look_seconds_ / kShare)) return;
    const auto start = Clock::now();
    pending_ = preview_of(mean());
    last_look_ = Clock::now();
    look_seconds_ = seconds_since(start);
  }

  void advance(int64_t count) {
    done_ += count;
    const double each = seconds_since(stage_start_) / static_cast<double>(done_);
    const bool is_new = pending_.defined();
    if (is_new) job_.set_preview({done_, std::exchange(pending_, {})});
    job_.change([&](JobStatus& status) {
      status.done = done_;
      status.seconds_left = each * static_cast<double>(std::max<int64_t>(total_ - done_, 0));
      if (is_new) status.preview = done_;
    });
    stop_if_asked();
  }

  Job& job_;
  const ServeLimits& limits_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point stage_start_ = start_, last_look_ = start_ - std::chrono::hours(1);
  double look_seconds_ = 0;
  int64_t total_ = 1, done_ = 0;
  Tensor pending_;  // the running mean that advance() publishes
};

// Names files in the report as the client named them.
void publish(RestorationReport& report, const JobRequest& request) {
  for (std::string* text :
       {&report.operator_spec, &report.noise_words, &report.kernel, &report.misfit})
    *text = public_words(*text, request.folder);
  report.input = request.shown;
  for (auto* list : {&report.findings, &report.warnings})
    for (std::string& text : *list) text = public_words(text, request.folder);
}

// Writes the arrays that a question about a pixel reads, where the result has none.
void write_pixel_arrays(const JobRequest& request, const Restoration& r) {
  if (std::filesystem::exists(request.result() + "/mean.npy")) return;
  const std::string folder = request.folder + "/arrays/";
  std::filesystem::create_directory(folder);
  const auto array = [&](const std::string& name, const Tensor& values) {
    write_array(folder + name + ".npy", values.to(at::kCPU, at::kFloat));
  };
  array("samples", r.samples);
  array("mean", r.mean);
  if (!r.deviation.defined()) return;
  array("deviation", r.deviation);
  array("interval", at::stack({r.low, r.high}));
}

}  // namespace

std::string public_words(std::string words, const std::string& folder) {
  const std::string root = folder + "/";
  for (size_t at = words.find(root); at != std::string::npos; at = words.find(root)) {
    size_t size = root.size();
    // An upload is FOLDER/image/NAME, and the folder may be one of many in another.
    const auto skip = [&](const std::string& part) {
      if (std::string_view(words).substr(at + size).starts_with(part)) size += part.size();
    };
    const size_t digits =
        std::min(words.find_first_not_of("0123456789abcdef", at + size), words.size());
    if (digits == at + size + 2 * kFolderBytes && words.substr(digits, 1) == "/")
      size = digits + 1 - at;
    for (const char* own : {"image/", "mask/", "kernel/", "noise_map/"}) skip(own);
    words.erase(at, size);
  }
  return words;
}

void run_job(Job& job, Networks& networks, const ServeLimits& limits) {
  Watcher watcher(job, limits);
  const auto network = networks.get(job.request.model);
  watcher.stop_if_asked();
  RestorationRequest request = job.request.restoration;
  request.network = job.request.model;
  watcher.listen(request);
  RestorationResult result = restore_measurement(request, *network);
  watcher.stop_if_asked();
  publish(result.report, job.request);
  report::write_restored(job.request.result(), result);
  write_pixel_arrays(job.request, result.restoration);
  job.change([&](JobStatus& status) { status.samples = result.report.samples; });
}

}  // namespace eps::serve
