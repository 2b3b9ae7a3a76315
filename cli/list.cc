// eps list: everything registered, by name.
#include "cli/verbs.h"
#include "eps/core.h"

namespace eps::cli {

void add_list(CLI::App& app) { app.add_subcommand("list", "Everything registered, by name"); }

}  // namespace eps::cli
