// The server of `eps serve`: restorations, a page for them and an HTTP interface (docs/http.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "eps/serve/limits.h"
#include "eps/serve/networks.h"

namespace eps::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address of this machine
  int port = 8080;                 // 0: any that is free
  std::string token = {};          // that requests must have; empty: a random one
  UsualNetworks usual = {};
  std::string device = {};  // in words
  Networks::Load load = {};
  ServeLimits limits = {};
};

// A `Server` answers requests from its construction to its destruction, on threads of its own.
class Server {
 public:
  // Throws an Error where the port is taken, and in programs built without cpp-httplib.
  explicit Server(ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();  // cancels what runs, and removes every file

  int port() const;
  const std::string& token() const;
  std::string address() const;  // of the page, with the token
  // Removes what is kept for long enough; to be called now and then.
  void expire();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Returns whether the program was built with a server.
bool has_server();

}  // namespace eps::serve
