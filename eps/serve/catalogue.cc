// What a server has: networks, demo pictures, limits.
#include <nlohmann/json.hpp>

#include "eps/base/version.h"
#include "eps/io/file.h"
#include "eps/io/images/picture_size.h"
#include "eps/serve/endpoints.h"
#include "eps/serve/form.h"

namespace eps::serve {

Answer json_answer(const Json& value, int status) {
  return {.status = status, .body = json_text(value) + "\n"};
}

Answer status(Site& site, const Request&) {
  Json names = Json::array();
  for (const NetworkEntry& entry : site.networks.entries()) names.push_back(entry.name);
  const ServeLimits& limits = site.limits;
  return json_answer({{"version", version()},
                      {"device", site.device},
                      {"models", names},
                      {"queue", {{"waiting", site.queue.waiting()}, {"limit", limits.waiting}}},
                      {"limits",
                       {{"body_bytes", limits.body_bytes},
                        {"pixels", limits.pixels},
                        {"samples", limits.samples},
                        {"steps", limits.steps}}},
                      {"kept_seconds", limits.kept_time.count()}});
}

Answer models(Site& site, const Request&) {
  Json all = Json::array();
  for (const NetworkEntry& entry : site.networks.entries())
    all.push_back({{"name", entry.name},
                   {"card", entry.card},
                   {"default", entry.name == site.networks.usual().samples},
                   {"default_for_holes", entry.name == site.networks.usual().holes},
                   {"channels", entry.shape.channels},
                   {"side", entry.shape.resolution},
                   {"tasks", entry.provenance.tasks},
                   {"sigma_y", entry.provenance.sigma_y},
                   {"images_seen", entry.provenance.images_seen},
                   {"input", entry.input},
                   {"method", entry.method}});
  return json_answer(all);
}

Answer demos(Site&, const Request&) {
  Json all = Json::array();
  for (const std::string& name : demo_names()) {
    const auto size = stored_picture_size(read_file(demo_picture(name)));
    if (size) all.push_back({{"name", name}, {"width", size->first}, {"height", size->second}});
  }
  return json_answer(all);
}

Answer demo(Site&, const Request& request) {
  const std::string& file = request.path.back();
  const std::string path =
      file.ends_with(".png") ? demo_picture(file.substr(0, file.size() - 4)) : "";
  if (path.empty()) throw Refusal{404, "there is no such demo picture"};
  return {.type = "image/png", .headers = {{"Cache-Control", "max-age=3600"}}, .file = path};
}

}  // namespace eps::serve
