// The table of `eps verify --methods`.
#pragma once

#include <cstdint>
#include <string>

namespace eps::cli {

// Prints it as Markdown, a line when its numbers are there; also writes the rows to a JSON file if
// one is named. Exit code 1 if a claim fails.
void print_method_table(uint64_t seed, const std::string& json);

}  // namespace eps::cli
