// Heads of requests: what is understood, and with which status everything else is refused.
#include "eps/serve/request_head.h"

#include <gtest/gtest.h>

namespace eps::serve {
namespace {

const HeadRules kRules{.token = "0123456789abcdef", .hosts = {"box"}, .body_bytes = 100};
const std::string kHost = "Host: localhost:8080\r\n", kKey = "X-Eps-Token: 0123456789abcdef\r\n";

int status_of(const std::string& head, const HeadRules& rules = kRules) {
  try {
    parse_request_head(head, rules);
    return 200;
  } catch (const Refusal& refusal) {
    EXPECT_FALSE(refusal.words.empty());
    return refusal.status;
  }
}

int status_with(const std::string& fields, const std::string& line = "GET /v1/status HTTP/1.1") {
  return status_of(line + "\r\n" + kHost + kKey + fields + "\r\n");
}

int status_of_host(const std::string& host, const HeadRules& rules = kRules) {
  return status_of("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", rules);
}

int status_of_target(const std::string& target) {
  return status_of("GET " + target + " HTTP/1.1\r\n" + kHost + "\r\n");
}

TEST(RequestHead, HasPathQueryAndFields) {
  const RequestHead head = parse_request_head(
      "POST /v1/restorations/a%20b?x=1%2C2&token=0123456789abcdef HTTP/1.1\r\n" + kHost +
          "content-TYPE:  text/plain \r\nContent-Length: 7\r\nExpect: 100-continue\r\n\r\n",
      kRules);
  EXPECT_EQ(head.request.method, "POST");
  EXPECT_EQ(head.request.path, (std::vector<std::string>{"v1", "restorations", "a b"}));
  EXPECT_EQ(head.request.value("x"), "1,2");
  EXPECT_EQ(head.request.content_type, "text/plain");
  EXPECT_EQ(head.content_length, 7u);
  EXPECT_TRUE(head.expects_continue);
}

TEST(RequestHead, WantsTheTokenForTheInterfaceAlone) {
  const std::string line = "GET /v1/status HTTP/1.1\r\n" + kHost;
  EXPECT_EQ(status_of(line + kKey + "\r\n"), 200);
  EXPECT_EQ(status_of(line + "\r\n"), 401);
  EXPECT_EQ(status_of(line + "X-Eps-Token: 0123456789abcdeF\r\n\r\n"), 401);
  EXPECT_EQ(status_of(line + "X-Eps-Token: 0123456789abcde\r\n\r\n"), 401);
  EXPECT_EQ(status_of(line + "X-Eps-Token: 0123456789abcdef0\r\n\r\n"), 401);
  EXPECT_EQ(status_of_target("/v1/status?token=0123456789abcdef"), 200);
  EXPECT_EQ(status_of_target("/v1/status?token="), 401);
  EXPECT_EQ(status_of_target("/%76%31/status"), 401);  // however it is written
  EXPECT_EQ(status_of_target("/"), 200);
}

TEST(RequestHead, IsForThisHost) {
  for (const char* host :
       {"localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]", "[::1]:80", "box"})
    EXPECT_EQ(status_of_host(host), 200) << host;
  for (const char* host : {"",
                           "evil.example",
                           "127.0.0.1.evil.example",
                           "localhost.",
                           "localhost:80:80",
                           "localhost:",
                           "[::1",
                           "10.0.0.1",
                           "127.0.0.2"})
    EXPECT_EQ(status_of_host(host), 421) << host;
  HeadRules any = kRules;
  any.any_address = true;
  EXPECT_EQ(status_of_host("10.0.0.1:8080", any), 200);
  EXPECT_EQ(status_of_host("evil.example", any), 421);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + kHost + kHost + "\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 421);
}

TEST(RequestHead, IsNotFromAPageOfAnotherHost) {
  EXPECT_EQ(status_with("Origin: http://localhost:8080\r\n"), 200);
  EXPECT_EQ(status_with("Origin: http://localhost:8081\r\n"), 403);
  EXPECT_EQ(status_with("Origin: http://evil.example\r\n"), 403);
  EXPECT_EQ(status_with("Origin: null\r\n"), 403);
}

TEST(RequestHead, NamesTheLengthOfItsBody) {
  const std::string post = "POST /v1/restorations HTTP/1.1";
  EXPECT_EQ(status_with("", post), 411);
  EXPECT_EQ(status_with("Content-Length: 0\r\n", post), 200);
  EXPECT_EQ(status_with("Content-Length: 100\r\n", post), 200);
  EXPECT_EQ(status_with("Content-Length: 101\r\n", post), 413);
  for (const char* length : {"-1", "+1", "0x1", "1 ", "1,1", "99999999999999999999", "\t"})
    EXPECT_NE(status_with(std::string("Content-Length: ") + length + "\r\nA: b\r\n", post), 413);
  EXPECT_EQ(status_with("Content-Length: -1\r\n", post), 400);
  EXPECT_EQ(status_with("Content-Length: 99999999999999999999\r\n", post), 400);
  EXPECT_EQ(status_with("Content-Length: 1\r\nContent-Length: 1\r\n", post), 400);
  EXPECT_EQ(status_with("Transfer-Encoding: chunked\r\n", post), 411);
  EXPECT_EQ(status_with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", post), 411);
  EXPECT_EQ(status_with("Content-Length: 1\r\n"), 400);  // of GET
  EXPECT_EQ(status_with("Content-Length: 1\r\nContent-Encoding: gzip\r\n", post), 400);
  EXPECT_EQ(status_with("Range: bytes=0-1\r\n"), 400);
}

TEST(RequestHead, LeadsNowhereElse) {
  for (const char* target : {"/../etc/passwd",
                             "/page/..",
                             "/page/%2e%2e/x",
                             "/page/%2e%2e%2fx",
                             "/page/a%2fb",
                             "/page/a%5cb",
                             "//x",
                             "/page//x",
                             "/%00",
                             "/page/%zz",
                             "/page/%4"})
    EXPECT_EQ(status_of_target(target), 404) << target;
  EXPECT_EQ(status_of_target("http://localhost/"), 400);
  EXPECT_EQ(status_of_target("*"), 400);
  EXPECT_EQ(status_of_target("/?a=1&a=2"), 400);
  EXPECT_EQ(status_of_target("/?a=%zz"), 400);
  EXPECT_EQ(status_of_target("/" + std::string(kMostLine, 'a')), 414);
}

TEST(RequestHead, IsWellFormed) {
  EXPECT_EQ(status_with("", "PUT /v1/status HTTP/1.1"), 405);
  EXPECT_EQ(status_with("", "OPTIONS /v1/status HTTP/1.1"), 405);
  EXPECT_EQ(status_with("", "get /v1/status HTTP/1.1"), 405);
  EXPECT_EQ(status_with("", "GET /v1/status HTTP/2"), 400);
  EXPECT_EQ(status_with("", "GET /v1/status"), 400);
  EXPECT_EQ(status_with("", ""), 400);
  EXPECT_EQ(status_with("", "GET /v1/sta tus HTTP/1.1"), 400);
  EXPECT_EQ(status_with("broken\r\n"), 400);
  EXPECT_EQ(status_with(" folded: x\r\n"), 400);
  EXPECT_EQ(status_with("a b: x\r\n"), 400);
  EXPECT_EQ(status_with("a : x\r\n"), 400);
  EXPECT_EQ(status_with(std::string("a: \0\r\n", 6)), 400);
  EXPECT_EQ(status_with("a: b\nc: d\r\n"), 400);
  std::string many;
  for (int k = 0; k < 100; ++k) many += "a: b\r\n";
  EXPECT_EQ(status_with(many), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + kHost), 400);
}

}  // namespace
}  // namespace eps::serve
