// The program eps reads the command line, runs one verb, and turns an Error into one line and exit
// code 2.
#include <ATen/Parallel.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

#include "cli/verbs.h"
#include "eps/base/spec.h"
#include "eps/base/version.h"
#include "eps/runtime/kept_blocks.h"
#include "eps/runtime/rank_environment.h"

namespace {

constexpr int kMostThreads = 4096;

// Returns OMP_NUM_THREADS, or this process's share of the cores. Debian's libtorch would start with
// one thread; several processes with a thread for every core would wait for one another at every
// operation.
int default_threads() {
  const char* told = std::getenv("OMP_NUM_THREADS");
  const int wanted = told == nullptr ? 0 : std::atoi(told);
  if (wanted > 0) return std::min(wanted, kMostThreads);
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max<int64_t>(1, cores / eps::processes_on_these_cores()));
}

// Keeps freed memory in the process, also that of large tensors up to some. glibc would return it
// to the system at once and fetch it again, page by page, at every step of a sampler. Threads share
// one arena: in those of their own heaps end at 64 MB, and glibc returns them in spite of the
// thresholds, which made a restoration in a thread of eps serve a tenth longer.
void keep_freed_memory() {
  eps::keep_large_blocks();
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_ARENA_MAX, 1);
#endif
}

// Refuses an unknown verb with a suggestion; CLI11 would only report that a subcommand is required.
void check_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> verbs;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  const bool known = std::find(verbs.begin(), verbs.end(), argv[1]) != verbs.end();
  eps::check(
      known, "unknown verb \"", argv[1], "\"", eps::suggestion(argv[1], verbs), "; see eps --help");
}

int run(int argc, char** argv) {
  CLI::App app{"eps: exact posterior samples for linear inverse problems y = A x + noise"};
  app.set_version_flag("--version", eps::version());
  app.require_subcommand(1);
  app.fallthrough();
  int threads = default_threads();
  app.add_option("--threads", threads, "CPU threads")
      ->check(CLI::Range(1, kMostThreads))
      ->capture_default_str();
  app.parse_complete_callback([&threads] { at::set_num_threads(threads); });

  eps::cli::add_bench(app);
  eps::cli::add_convert(app);
  eps::cli::add_dataset(app);
  eps::cli::add_demo(app);
  eps::cli::add_denoise(app);
  eps::cli::add_gallery(app);
  eps::cli::add_list(app);
  eps::cli::add_metrics(app);
  eps::cli::add_operator(app);
  eps::cli::add_restore(app);
  eps::cli::add_run(app);
  eps::cli::add_runs(app);
  eps::cli::add_sample(app);
  eps::cli::add_serve(app);
  eps::cli::add_train(app);
  eps::cli::add_verify(app);

  check_verb(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);                // --help, --version
    if (error.get_name() == "RuntimeError") return error.get_exit_code();  // thrown by a verb
    std::cerr << "eps: " << error.what() << '\n';
    return 2;
  }
  return 0;
}

// Flushes the output, because a full disk is noticed only then.
void flush_output() {
  std::cout.flush();
  eps::check(std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0,
             "the output cannot be written: ",
             std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  try {
    const int status = run(argc, argv);
    flush_output();
    return status;
  } catch (const eps::UnknownName& error) {
    std::cerr << "eps: " << error.what() << "; see eps list " << error.kind() << "s\n";
  } catch (const eps::Error& error) {
    std::cerr << "eps: " << error.what() << '\n';
  } catch (const c10::Error& error) {
    std::cerr << "eps: " << error.what_without_backtrace() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "eps: " << error.what() << '\n';
  }
  return 2;
}
