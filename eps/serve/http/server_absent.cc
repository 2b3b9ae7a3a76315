// What stands in for the server in programs built without cpp-httplib.
#include "eps/base/core.h"
#include "eps/serve/server.h"

namespace eps::serve {

struct Server::Parts {
  std::string token = {};
};

Server::Server(ServerOptions) {
  fail(
      "serve: eps was built without cpp-httplib 0.11 to 0.14 (Debian: libcpp-httplib-dev): "
      "install it and build again");
}
Server::~Server() = default;
int Server::port() const { return 0; }
const std::string& Server::token() const { return parts_->token; }
std::string Server::address() const { return ""; }
void Server::expire() {}

bool has_server() { return false; }

}  // namespace eps::serve
