// The head of an HTTP request, checked strictly.
#include "eps/serve/request_head.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace eps::serve {
namespace {

constexpr size_t kMostHeaders = 64, kMostParameters = 32;

bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// Returns the next line, and takes it with its line break off the text.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find("\r\n");
  if (end == std::string_view::npos) throw Refusal{400, "the head of the request is broken"};
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line;
}

void parse_query(std::string_view text, Request& request) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = std::min(field.find('='), field.size());
    const auto name = percent_decoded(field.substr(0, equals), true);
    const auto value = percent_decoded(field.substr(std::min(equals + 1, field.size())), true);
    if (!name || !value || request.query.size() >= kMostParameters)
      throw Refusal{400, "the query of the address is broken"};
    if (!request.query.emplace(*name, *value).second)
      throw Refusal{400, "a parameter of the address appears twice"};
  }
}

void parse_target(std::string_view target, Request& request) {
  const bool printable =
      std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 127; });
  if (!target.starts_with('/') || !printable || target.find('#') != std::string_view::npos)
    throw Refusal{400, "the address of the request is broken"};
  const size_t question = std::min(target.find('?'), target.size());
  parse_query(target.substr(std::min(question + 1, target.size())), request);
  std::string_view path = target.substr(1, question - 1);
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const auto part = percent_decoded(path.substr(0, end), false);
    // No part leads to another folder, however it is written.
    if (!part || part->empty() || *part == "." || *part == ".." ||
        part->find_first_of("/\\") != std::string::npos)
      throw Refusal{404, "there is nothing at this address"};
    request.path.push_back(*part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
}

void parse_first_line(std::string_view line, Request& request) {
  if (line.size() > kMostLine)
    throw Refusal{414, "the address is longer than " + std::to_string(kMostLine) + " bytes"};
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    throw Refusal{400, "the first line of the request is broken"};
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") throw Refusal{400, "HTTP/1.1 is wanted"};
  request.method = line.substr(0, first);
  const std::array<std::string_view, 4> served = {"GET", "HEAD", "POST", "DELETE"};
  if (std::find(served.begin(), served.end(), request.method) == served.end())
    throw Refusal{405, "GET, POST or DELETE is wanted", {{"Allow", "GET, HEAD, POST, DELETE"}}};
  parse_target(line.substr(first + 1, last - first - 1), request);
}

// Returns the fields of the head, their names in lower case.
std::multimap<std::string, std::string> parse_fields(std::string_view text) {
  std::multimap<std::string, std::string> fields;
  for (;;) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, std::min(colon, line.size()));
    if (colon == std::string_view::npos || name.empty() ||
        !std::all_of(name.begin(), name.end(), is_name_byte) || fields.size() >= kMostHeaders)
      throw Refusal{400, "the headers of the request are broken, or too many"};
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    const bool is_text = std::none_of(value.begin(), value.end(), [](char c) {
      return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 127;
    });
    if (!is_text) throw Refusal{400, "the headers of the request are broken"};
    fields.emplace(in_lower_case(name), value);
  }
  return fields;
}

// Returns the field, or "" where it is absent; a second one is a Refusal.
std::string only(const std::multimap<std::string, std::string>& fields, const std::string& name) {
  const auto [begin, end] = fields.equal_range(name);
  if (begin == end) return "";
  if (std::next(begin) != end) throw Refusal{400, "the header " + name + " appears twice"};
  return begin->second;
}

// Returns the host without the port, in lower case and without the brackets of an IPv6 address; ""
// if it is broken.
std::string name_of_host(const std::string& host) {
  const bool in_brackets = host.starts_with('[');
  const size_t end = in_brackets ? host.find(']') : std::min(host.find(':'), host.size());
  if (end == std::string::npos) return "";
  const std::string_view port = std::string_view(host).substr(in_brackets ? end + 1 : end);
  const bool is_port =
      port.empty() || (port.size() > 1 && port.size() <= 6 && port[0] == ':' &&
                       port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  if (!is_port) return "";
  return in_lower_case(in_brackets ? host.substr(1, end - 1) : host.substr(0, end));
}

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address.data()) == 1;
}

// Refuses names of other hosts: a page of the web whose name is made to lead here (DNS rebinding)
// still says its own name.
void check_host(const std::string& host, const HeadRules& rules) {
  const std::string name = name_of_host(host);
  const bool served =
      name == "localhost" || name == "127.0.0.1" || name == "::1" ||
      std::find(rules.hosts.begin(), rules.hosts.end(), name) != rules.hosts.end() ||
      (rules.any_address && is_address(name));
  if (!served) throw Refusal{421, "this server is not known by the name in Host"};
}

// Refuses requests that pages of other hosts make.
void check_origin(const std::string& origin, const std::string& host) {
  if (origin.empty()) return;
  if (origin != "http://" + host && origin != "https://" + host)
    throw Refusal{403, "pages of other hosts are not served"};
}

std::optional<uint64_t> parse_length(const std::string& text) {
  if (text.empty()) return {};
  uint64_t length = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, length);
  if (status != std::errc() || stop != end)
    throw Refusal{400, "Content-Length is no number of bytes"};
  return length;
}

void check_body(const RequestHead& head, const HeadRules& rules) {
  const bool is_post = head.request.method == "POST";
  if (is_post && !head.content_length) throw Refusal{411, "Content-Length is wanted"};
  const uint64_t length = head.content_length.value_or(0);
  if (!is_post && length > 0) throw Refusal{400, head.request.method + " has no body here"};
  if (length > rules.body_bytes)
    throw Refusal{413,
                  "a body of " + std::to_string(length) + " bytes; at most " +
                      std::to_string(rules.body_bytes) + " are taken"};
}

}  // namespace

bool equal_in_constant_time(std::string_view secret, std::string_view given) {
  unsigned difference = secret.size() == given.size() ? 0 : 1;
  for (size_t k = 0; k < given.size(); ++k)
    difference |= static_cast<unsigned char>(given[k]) ^
                  static_cast<unsigned char>(secret.empty() ? 0 : secret[k % secret.size()]);
  return difference == 0;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (size_t k = 0; k < text.size(); ++k) {
    char c = text[k];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      unsigned byte = 0;
      if (k + 2 >= text.size()) return {};
      const auto [stop, status] = std::from_chars(&text[k + 1], &text[k + 1] + 2, byte, 16);
      if (status != std::errc() || stop != &text[k + 1] + 2) return {};
      c = static_cast<char>(byte);
      k += 2;
    }
    if (static_cast<unsigned char>(c) < ' ' || c == 127) return {};
    decoded += c;
  }
  return decoded;
}

RequestHead parse_request_head(std::string_view bytes, const HeadRules& rules) {
  RequestHead head;
  parse_first_line(take_line(bytes), head.request);
  const auto fields = parse_fields(bytes);
  const std::string host = only(fields, "host");
  check_host(host, rules);
  check_origin(only(fields, "origin"), host);
  if (fields.contains("transfer-encoding"))
    throw Refusal{411, "Content-Length is wanted, and no Transfer-Encoding"};
  if (fields.contains("range")) throw Refusal{400, "Range is not served"};
  const std::string coding = only(fields, "content-encoding");
  if (!coding.empty() && coding != "identity")
    throw Refusal{400, "a body without Content-Encoding is wanted"};
  const std::string expected = in_lower_case(only(fields, "expect"));
  if (!expected.empty() && expected != "100-continue") throw Refusal{400, "Expect is not served"};
  head.expects_continue = !expected.empty();
  head.content_length = parse_length(only(fields, "content-length"));
  head.request.content_type = only(fields, "content-type");
  head.request.if_none_match = only(fields, "if-none-match");
  const std::string token = only(fields, "x-eps-token");
  const bool is_api = !head.request.path.empty() && head.request.path[0] == "v1";
  if (is_api &&
      !equal_in_constant_time(rules.token, token.empty() ? head.request.value("token") : token))
    throw Refusal{401, "the token of the printed address is wanted, as X-Eps-Token or ?token="};
  check_body(head, rules);
  return head;
}

}  // namespace eps::serve
