// The verb `eps serve` restores pictures for a page in the browser, and for programs over HTTP.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "cli/interrupt.h"
#include "cli/restore.h"
#include "cli/verbs.h"
#include "eps/runtime/device.h"
#include "eps/serve/server.h"

namespace eps::cli {
namespace {

struct ServeOptions {
  ModelOptions network;
  serve::ServerOptions server;
  int64_t body_mib = 32, megapixels = 16, kept_minutes = 60, job_minutes = 60;
};

void run_serve(ServeOptions o) {
  serve::ServeLimits& limits = o.server.limits;
  limits.body_bytes = static_cast<uint64_t>(o.body_mib) << 20;
  limits.bodies_bytes = std::max(limits.bodies_bytes, limits.body_bytes);
  limits.pixels = o.megapixels << 20;
  limits.kept_time = std::chrono::minutes(o.kept_minutes);
  limits.job_time = std::chrono::minutes(o.job_minutes);
  ModelOptions of_holes = o.network;
  name_network(o.network);
  name_network(of_holes, /*large_on_cpu=*/true);
  o.server.usual = {.samples = o.network.path, .holes = of_holes.path};
  o.server.device = parse_device(o.network.device).str();
  o.server.load = [options = o.network](const std::string& name) {
    ModelOptions own = options;
    own.path = name;
    return load_any_model(own);
  };
  handle_interrupts();
  serve::Server server(o.server);
  fmt::print("{}\n", server.address());
  std::cerr << "eps: open this address in a browser; Ctrl-C ends the server\n";
  std::cout.flush();
  std::fflush(stdout);
  constexpr int kTicksOfExpiry = 50;
  for (int tick = 1; !interrupted(); ++tick) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (tick % kTicksOfExpiry == 0) server.expire();
  }
}

}  // namespace

void add_serve(CLI::App& app) {
  const auto o = std::make_shared<ServeOptions>();
  auto* verb = app.add_subcommand("serve", "Restore pictures on a page in the browser");
  verb->add_option("--port", o->server.port, "Port; 0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--host",
                   o->server.host,
                   "Address to listen to; one that other machines can reach needs --token")
      ->capture_default_str();
  verb->add_option("--token",
                   o->server.token,
                   "Secret that requests must have, 16 characters or more; random if not given");
  verb->add_option(
      "--model",
      o->network.path,
      "Network, where a request names none; photos-eps if not given, but on a CPU photos-eps-small "
      "for samples without a mask");
  add_device_options(*verb, o->network);
  const CLI::Range count(int64_t{1}, int64_t{1} << 20);
  verb->add_option("--queue", o->server.limits.waiting, "Restorations that may wait")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--most-mib", o->body_mib, "Largest request, in MiB")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb->add_option("--most-megapixels", o->megapixels, "Largest picture, in 2^20 pixels")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--most-minutes", o->job_minutes, "Longest restoration")
      ->check(count)
      ->capture_default_str();
  verb->add_option("--keep-minutes", o->kept_minutes, "Time for which results are kept")
      ->check(count)
      ->capture_default_str();
  verb->callback([o] { run_serve(*o); });
}

}  // namespace eps::cli
