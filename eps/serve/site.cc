// The routes of a server.
#include "eps/serve/site.h"

#include <algorithm>

#include "eps/serve/endpoints.h"
#include "eps/serve/job_run.h"

namespace eps::serve {
namespace {

// A `Route` leads a method and a path, in which * stands for any one part, to an endpoint.
struct Route {
  const char* method;
  std::vector<const char*> path;
  Answer (*endpoint)(Site& site, const Request& request);
};

const std::vector<Route>& routes() {
  static const std::vector<Route> all = {
      {"GET", {}, page},
      {"GET", {"page", "*"}, page},
      {"GET", {"v1", "status"}, status},
      {"GET", {"v1", "models"}, models},
      {"GET", {"v1", "demo"}, demos},
      {"GET", {"v1", "demo", "*"}, demo},
      {"POST", {"v1", "restorations"}, create},
      {"GET", {"v1", "restorations"}, list},
      {"GET", {"v1", "restorations", "*"}, show},
      {"DELETE", {"v1", "restorations", "*"}, remove},
      {"GET", {"v1", "restorations", "*", "events"}, events},
      {"GET", {"v1", "restorations", "*", "preview.png"}, running_mean},
      {"GET", {"v1", "restorations", "*", "files", "*"}, result_file},
      {"GET", {"v1", "restorations", "*", "pixel"}, pixel},
      {"GET", {"v1", "restorations", "*", "result.zip"}, result_zip},
      {"POST", {"v1", "preview"}, preview},
      {"POST", {"v1", "noise"}, noise},
      {"GET", {"v1", "exactness"}, exactness},
  };
  return all;
}

bool leads_to(const Route& route, const std::vector<std::string>& path) {
  return std::equal(route.path.begin(),
                    route.path.end(),
                    path.begin(),
                    path.end(),
                    [](std::string_view wanted, const std::string& part) {
                      return wanted == "*" || wanted == part;
                    });
}

}  // namespace

std::unique_lock<std::timed_mutex> Workbench::take() {
  std::unique_lock lock(mutex_, std::chrono::seconds(20));
  if (!lock.owns_lock()) throw Refusal{503, "the server is busy", {{"Retry-After", "5"}}};
  return lock;
}

Site::Site(const ServeLimits& most, Networks::Load load, const UsualNetworks& usual)
    : limits(most),
      networks(std::move(load), usual, most.networks),
      queue(most, [this](Job& job) { run_job(job, networks, limits); }) {}

Answer answer(Site& site, const Request& request) {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::string allowed;
  for (const Route& route : routes()) {
    if (!leads_to(route, request.path)) continue;
    if (method == route.method) return route.endpoint(site, request);
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  if (!allowed.empty()) throw Refusal{405, allowed + " is wanted here", {{"Allow", allowed}}};
  throw Refusal{404, "there is nothing at this address"};
}

}  // namespace eps::serve
