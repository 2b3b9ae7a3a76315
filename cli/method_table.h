// The table of `eps verify --methods`.
#pragma once

#include <cstdint>
#include <string>

namespace eps::cli {

// Prints the table as Markdown, line by line as results arrive, and writes the rows to the file
// `json` unless the name is empty. Throws CLI::RuntimeError(1), the exit code, if a claim fails.
void print_method_table(uint64_t seed, const std::string& json);

}  // namespace eps::cli
