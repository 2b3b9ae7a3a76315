// The verbs of the program: each function, in the file of its name, adds one to the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace eps::cli {

void add_bench(CLI::App& app);
void add_convert(CLI::App& app);
void add_dataset(CLI::App& app);
void add_demo(CLI::App& app);
void add_denoise(CLI::App& app);
void add_list(CLI::App& app);
void add_metrics(CLI::App& app);
void add_operator(CLI::App& app);
void add_restore(CLI::App& app);
void add_run(CLI::App& app);
void add_runs(CLI::App& app);
void add_sample(CLI::App& app);
void add_train(CLI::App& app);
void add_verify(CLI::App& app);

}  // namespace eps::cli
