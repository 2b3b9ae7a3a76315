// The HTTP server: cpp-httplib behind a strict door.
#pragma once

#include "eps/serve/http/connection.h"
#include "eps/serve/request_head.h"
#include "eps/serve/site.h"

namespace eps::serve {

class Listener final : public httplib::Server {
 public:
  Listener(Site& site, HeadRules rules);
  ~Listener() override;

  // Takes the port, 0 for any, and answers on threads of its own from here on. Returns the port.
  int open(const std::string& host, int port);
  void close();

 private:
  bool process_and_close_socket(socket_t socket) override;
  bool serve(Connection& connection);
  class Claim;  // on the memory of bodies
  std::string read_body(const httplib::ContentReader& reader, Claim& claim);
  void respond(const httplib::Request& request,
               httplib::Response& response,
               const httplib::ContentReader* reader);

  Site& site_;
  const HeadRules rules_;
  std::atomic<uint64_t> bodies_ = 0;  // bytes of those that requests hold
  std::thread thread_;
};

}  // namespace eps::serve
