// The endpoints of a server (docs/http.md), one function each; routes in site.cc lead to them.
#pragma once

#include "eps/base/json.h"
#include "eps/serve/site.h"

namespace eps::serve {

Answer json_answer(const Json& value, int status = 200);

// catalogue.cc
Answer status(Site& site, const Request& request);
Answer models(Site& site, const Request& request);
Answer demos(Site& site, const Request& request);
Answer demo(Site& site, const Request& request);

// restorations.cc
std::shared_ptr<Job> job_of(Site& site, const Request& request);  // a Refusal if there is none
Answer create(Site& site, const Request& request);
Answer list(Site& site, const Request& request);
Answer show(Site& site, const Request& request);
Answer remove(Site& site, const Request& request);

// events.cc
Answer events(Site& site, const Request& request);

// result_files.cc
std::vector<std::string> result_names(const Job& job);
Answer running_mean(Site& site, const Request& request);
Answer result_file(Site& site, const Request& request);
Answer result_zip(Site& site, const Request& request);
Answer pixel(Site& site, const Request& request);

// measured_picture.cc
Answer preview(Site& site, const Request& request);
Answer noise(Site& site, const Request& request);

// exactness.cc
Answer exactness(Site& site, const Request& request);

// page.cc
Answer page(Site& site, const Request& request);

}  // namespace eps::serve
