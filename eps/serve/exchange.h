// A request and its answer, whatever carries them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eps::serve {

// A `Refusal` is thrown for a request that is not served.
struct Refusal {
  int status = 400;
  std::string words = {};  // one line
  std::map<std::string, std::string> headers = {};
};

// A `Request` holds what a client asks for.
struct Request {
  std::string method = {};
  std::vector<std::string> path = {};  // "/v1/restorations/7" has three parts
  std::map<std::string, std::string> query = {};
  std::string content_type = {};
  std::string if_none_match = {};
  // Reads the body, which throws a Refusal where it is too slow or too much.
  std::function<std::string()> read_body = {};

  std::string value(const std::string& name) const {  // of the query; "" where it is absent
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  }
};

// A `Sink` takes the parts of an answer that has no end yet.
struct Sink {
  std::function<bool(const std::string& text)> write = {};  // false: the client is gone
  std::function<bool()> is_open = {};
};

// An `Answer` has a body, a file, or parts that come one by one.
struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::map<std::string, std::string> headers = {};
  std::string file = {};  // its path, in place of a body
  // Writes the next parts, in place of a body; false: there are no more.
  std::function<bool(Sink& sink)> next = {};
};

}  // namespace eps::serve
