// The server of `eps serve`.
#include "eps/serve/server.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <array>

#include "eps/serve/http/listener.h"

namespace eps::serve {
namespace {

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool is_every_address(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

std::string name_of_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

HeadRules rules_of(const ServerOptions& options) {
  check(is_loopback(options.host) || !options.token.empty(),
        "serve: host ",
        options.host,
        ": other machines can reach it; a token of your own is wanted");
  check(options.token.empty() || options.token.size() >= 16,
        "serve: a token of at least 16 characters is wanted");
  check(options.token.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789-_.") == std::string::npos,
        "serve: a token of letters, digits, -, _ and . is wanted");
  HeadRules rules{.token = options.token.empty() ? random_digits(16) : options.token,
                  .hosts = {options.host},
                  .any_address = is_every_address(options.host),
                  .body_bytes = options.limits.body_bytes};
  if (!is_loopback(options.host)) rules.hosts.push_back(name_of_machine());
  // A name of a host is the same in capitals; browsers send small letters.
  for (std::string& host : rules.hosts)
    for (char& letter : host)
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return rules;
}

}  // namespace

struct Server::Parts {
  explicit Parts(const ServerOptions& options)
      : host(options.host),
        rules(rules_of(options)),
        site(options.limits, options.load, options.usual),
        listener(site, rules) {
    site.device = options.device;
    port = listener.open(host, options.port);
  }
  ~Parts() {
    site.is_stopping = true;
    listener.close();
  }

  const std::string host;
  const HeadRules rules;
  Site site;
  Listener listener;
  int port = 0;
};

Server::Server(ServerOptions options) : parts_(std::make_unique<Parts>(options)) {}
Server::~Server() = default;

int Server::port() const { return parts_->port; }
const std::string& Server::token() const { return parts_->rules.token; }
void Server::expire() { parts_->site.queue.expire(); }

std::string Server::address() const {
  std::string host = is_every_address(parts_->host) ? name_of_machine() : parts_->host;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return "http://" + host + ":" + std::to_string(port()) + "/?token=" + token();
}

bool has_server() { return true; }

}  // namespace eps::serve
