// The parts of a form with files.
#include "eps/serve/multipart.h"

#include <algorithm>
#include <cctype>

#include "eps/base/core.h"
#include "eps/base/printable.h"

namespace eps::serve {
namespace {

constexpr size_t kMostParts = 16, kMostPartHead = 4096, kMostBoundary = 70;
constexpr const char* kForm = "the form";

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) ==
                  std::tolower(static_cast<unsigned char>(b));
         });
}

// Returns the value of a parameter such as name="image"; "" where it is absent. Browsers write a
// quotation mark as %22.
std::string parameter(std::string_view line, const std::string& name) {
  const std::string wanted = name + "=\"";
  for (size_t at = line.find(wanted); at != std::string_view::npos;
       at = line.find(wanted, at + 1)) {
    const char before = at == 0 ? ';' : line[at - 1];
    if (before != ';' && before != ' ' && before != '\t') continue;
    const size_t begin = at + wanted.size(), end = line.find('"', begin);
    check(end != std::string_view::npos, kForm, ": a part has a broken name");
    return std::string(line.substr(begin, end - begin));
  }
  return "";
}

// Returns the last component of a name, so that no name leads out of a folder.
std::string bare_name(const std::string& name) {
  const size_t slash = name.find_last_of("/\\");
  std::string bare = slash == std::string::npos ? name : name.substr(slash + 1);
  for (char& c : bare)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '_';
  constexpr size_t kLongest = 120;
  if (bare.size() > kLongest) bare = bare.substr(bare.size() - kLongest);
  return bare == "." || bare == ".." ? "" : bare;
}

Part parse_part_head(std::string_view head) {
  Part part;
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    if (!begins_with(line, "content-disposition:")) continue;
    check(line.find("form-data") != std::string_view::npos, kForm, ": a part is no form-data");
    part.name = parameter(line, "name");
    part.file_name = bare_name(parameter(line, "filename"));
  }
  check(!part.name.empty(), kForm, ": a part has no name");
  return part;
}

}  // namespace

std::string boundary_of(const std::string& content_type) {
  if (!begins_with(content_type, "multipart/form-data")) return "";
  const size_t at = content_type.find("boundary=");
  if (at == std::string::npos) return "";
  std::string boundary = content_type.substr(at + 9);
  boundary = boundary.substr(0, boundary.find(';'));
  if (boundary.size() >= 2 && boundary.front() == '"' && boundary.back() == '"')
    boundary = boundary.substr(1, boundary.size() - 2);
  return boundary.size() > kMostBoundary ? "" : boundary;
}

std::vector<Part> parse_multipart(std::string_view body, const std::string& boundary) {
  check(!boundary.empty(), kForm, ": multipart/form-data with a boundary is wanted");
  const std::string delimiter = "\r\n--" + boundary;
  check(body.starts_with(std::string_view(delimiter).substr(2)),
        kForm,
        ": it does not begin with its boundary");
  body.remove_prefix(delimiter.size() - 2);
  std::vector<Part> parts;
  for (;;) {
    if (body.starts_with("--")) break;  // what follows the last boundary does not count
    check(body.starts_with("\r\n"), kForm, ": a boundary is broken");
    body.remove_prefix(2);
    const size_t head =
        body.starts_with("\r\n") ? 0 : body.substr(0, kMostPartHead).find("\r\n\r\n");
    check(head != std::string_view::npos, kForm, ": the head of a part is broken, or too long");
    Part part = parse_part_head(body.substr(0, head));
    body.remove_prefix(head + 4);
    const size_t end = body.find(delimiter);
    check(end != std::string_view::npos, kForm, ": the part ", quote(part.name), " has no end");
    part.content = body.substr(0, end);
    body.remove_prefix(end + delimiter.size());
    for (const Part& other : parts)
      check(other.name != part.name, kForm, ": two parts have the name ", quote(part.name));
    check(parts.size() < kMostParts, kForm, ": more than ", kMostParts, " parts");
    parts.push_back(part);
  }
  return parts;
}

}  // namespace eps::serve
