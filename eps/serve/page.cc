// The page and its parts.
#include "eps/serve/page.h"

#include <algorithm>

#include "eps/io/content_hash.h"
#include "eps/serve/endpoints.h"

namespace eps::serve {
namespace {

std::string type_of_page_file(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "application/octet-stream";
}

}  // namespace

Answer page(Site&, const Request& request) {
  const std::string name = request.path.empty() ? "index.html" : request.path.back();
  const auto& files = page_files();
  const auto file = std::find_if(
      files.begin(), files.end(), [&](const PageFile& one) { return one.name == name; });
  if (file == files.end()) throw Refusal{404, "there is nothing at this address"};
  Answer answer{.type = type_of_page_file(name)};
  const std::string tag = '"' + content_hash(file->content) + '"';
  answer.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  if (request.if_none_match == tag)
    answer.status = 304;
  else
    answer.body = file->content;
  return answer;
}

}  // namespace eps::serve
