// Restorations: asked for, listed, shown, cancelled and removed.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/io/file.h"
#include "eps/serve/endpoints.h"
#include "eps/serve/form.h"

namespace eps::serve {
namespace {

// Returns what lists and descriptions of a restoration both have.
Json summary_of(const Job& job, const JobStatus& status) {
  Json json = {{"id", job.id},
               {"name", job.request.name},
               {"state", to_string(status.state)},
               {"position", status.position},
               {"created", status.created},
               {"done_at", status.done_at > 0 ? Json(status.done_at) : Json()},
               {"stage", status.stage},
               {"evaluations", {{"done", status.done}, {"total", status.total}}},
               {"seconds_left", status.seconds_left ? Json(*status.seconds_left) : Json()},
               {"preview", status.preview}};
  return json;
}

}  // namespace

std::shared_ptr<Job> job_of(Site& site, const Request& request) {
  auto job = site.queue.find(request.path.at(2));
  if (!job) throw Refusal{404, "there is no such restoration"};
  return job;
}

Answer create(Site& site, const Request& request) {
  site.queue.check_free();
  const auto form = read_form(request, {"image", "mask", "kernel", "noise_map"});
  Upload upload(site);
  JobRequest job;
  {
    const auto bench = site.bench.take();
    job = restoration_of(site, *form, upload);
  }
  const auto added = site.queue.add(std::move(job));
  upload.keep();
  Answer answer =
      json_answer({{"id", added->id}, {"state", to_string(added->status().state)}}, 201);
  answer.headers["Location"] = "/v1/restorations/" + added->id;
  return answer;
}

Answer list(Site& site, const Request&) {
  Json all = Json::array();
  for (const auto& job : site.queue.all()) all.push_back(summary_of(*job, job->status()));
  return json_answer(all);
}

Answer show(Site& site, const Request& request) {
  const auto job = job_of(site, request);
  const JobStatus status = job->status();
  Json json = summary_of(*job, status);
  json["warnings"] = status.warnings;
  json["error"] = status.error.empty() ? Json() : Json(status.error);
  json["report"] = Json();
  if (status.state == JobState::done)
    json["report"] = parse_json(read_file(job->request.result() + "/restore.json"), "restore.json");
  json["command"] = job->request.command;
  json["files"] = result_names(*job);
  json["width"] = job->request.width;
  json["height"] = job->request.height;
  json["samples"] = status.samples;
  return json_answer(json);
}

Answer remove(Site& site, const Request& request) {
  const bool removed = site.queue.remove(request.path.at(2));
  if (removed) return {.status = 204};
  return json_answer({{"state", "cancelled"}}, 202);
}

}  // namespace eps::serve
