// The verbs of the program. Each function adds the verb of its name to the command line and stands
// in the file of that name.
#pragma once

#include <CLI/CLI.hpp>

namespace eps::cli {

void add_bench(CLI::App& app);
void add_convert(CLI::App& app);
void add_dataset(CLI::App& app);
void add_demo(CLI::App& app);
void add_denoise(CLI::App& app);
void add_gallery(CLI::App& app);
void add_list(CLI::App& app);
void add_metrics(CLI::App& app);
void add_operator(CLI::App& app);
void add_restore(CLI::App& app);
void add_run(CLI::App& app);
void add_runs(CLI::App& app);
void add_sample(CLI::App& app);
void add_serve(CLI::App& app);
void add_train(CLI::App& app);
void add_verify(CLI::App& app);

}  // namespace eps::cli
