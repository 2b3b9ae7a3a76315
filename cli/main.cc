// The program eps: reads the command line, runs one verb, turns an Error into one line and exit 2.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <iostream>
#include <thread>

#include "cli/verbs.h"
#include "eps/core.h"

namespace {

// Debian's libtorch starts with one thread unless told otherwise.
int default_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

int run(int argc, char** argv) {
  CLI::App app{"eps: exact posterior samples for linear inverse problems y = A x + noise"};
  app.set_version_flag("--version", EPS_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  int threads = default_threads();
  app.add_option("--threads", threads, "CPU threads")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.parse_complete_callback([&threads] { at::set_num_threads(threads); });

  eps::cli::add_convert(app);
  eps::cli::add_list(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::cerr << "eps: " << error.what() << '\n';
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const eps::Error& error) {
    std::cerr << "eps: " << error.what() << '\n';
  } catch (const c10::Error& error) {
    std::cerr << "eps: " << error.what_without_backtrace() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "eps: out of memory\n";
  }
  return 2;
}
