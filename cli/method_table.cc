// The table of `eps verify --methods`.
#include "cli/method_table.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/io/file.h"
#include "eps/verify/verify_methods.h"

namespace eps::cli {
namespace {

// Rows with another number of samples print it.
const int64_t kUsual = 1000;

// Returns the errors in mean and covariance, with a mark where the method is claimed to be exact:
// "0.031 / 0.250 =".
std::string method_cell(const MethodRow& row) {
  if (!row.refusal.empty()) return "does not apply";
  const char* mark = !row.exact ? "" : row.at_floor() ? " =" : " FAILED";
  return fmt::format("{:.3f} / {:.3f}{}", row.mean_error, row.covariance_error, mark);
}

void print_header(const std::string& prior) {
  fmt::print("\n| {} prior |", prior);
  for (const auto& spec : verify_methods_operators()) fmt::print(" {} |", spec);
  fmt::print(" evaluations | VJPs | solves |\n|---|");
  for (size_t i = 0; i < verify_methods_operators().size() + 3; ++i) fmt::print("---|");
  fmt::print("\n");
}

void print_floor(const std::vector<MethodRow>& line) {
  fmt::print("| {} exact samples, on average |", line.front().samples);
  for (const auto& row : line)
    fmt::print(" {:.3f} / {:.3f} |", row.mean_floor, row.covariance_floor);
  fmt::print(" | | |\n");
}

// Prints the results of one method on every operator.
void print_line(const std::vector<MethodRow>& line) {
  fmt::print(
      "| {}{} |",
      line.front().method,
      line.front().samples == kUsual ? "" : fmt::format(" ({} samples)", line.front().samples));
  MethodRow cost = line.front();
  for (const auto& row : line) {
    fmt::print(" {} |", method_cell(row));
    if (row.refusal.empty()) cost = row;
  }
  fmt::print(" {:g} | {:g} | {:g} |\n", cost.evaluations, cost.vjps, cost.solves);
  std::fflush(stdout);
}

void write_method_rows(const std::string& path, const std::vector<MethodRow>& rows) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back({{"prior", row.prior},
                    {"operator", row.operator_spec},
                    {"method", row.method},
                    {"samples", row.samples},
                    {"refusal", row.refusal},
                    {"mean_error", row.mean_error},
                    {"mean_floor", row.mean_floor},
                    {"covariance_error", row.covariance_error},
                    {"covariance_floor", row.covariance_floor},
                    {"mean_z", row.mean_z},
                    {"covariance_z", row.covariance_z},
                    {"evaluations", row.evaluations},
                    {"vjps", row.vjps},
                    {"solves", row.solves},
                    {"exact", row.exact}});
  write_file_atomically(path, json_text({{"rows", list}}, 2) + "\n");
}

}  // namespace

void print_method_table(uint64_t seed, const std::string& json) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<MethodRow> line;
  std::map<int64_t, std::vector<MethodRow>> floors;  // by the number of samples
  std::string prior;
  const auto rows = verify_methods(seed, false, [&](const MethodRow& row) {
    if (row.prior != prior) {
      for (const auto& [samples, floor] : floors) print_floor(floor);
      print_header(prior = row.prior);
    }
    line.push_back(row);
    if (line.size() < verify_methods_operators().size()) return;
    print_line(line);
    const bool complete = std::all_of(
        line.begin(), line.end(), [](const MethodRow& each) { return each.refusal.empty(); });
    if (complete) floors[line.front().samples] = line;
    line.clear();
  });
  for (const auto& [samples, floor] : floors) print_floor(floor);
  const auto broken = broken_claims(rows);
  fmt::print(
      "\nEach cell: |sample mean - mean| / sqrt(trace C) / |sample covariance - C| / |C|, for the\n"
      "posterior covariance C. \"=\": the method is exact here, and within 5 standard errors.\n");
  for (const auto& claim : broken) fmt::print("FAILED: {}\n", claim);
  fmt::print("{} posteriors sampled, {} claims fail; {:.0f} s\n",
             rows.size(),
             broken.size(),
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (!json.empty()) write_method_rows(json, rows);
  if (!broken.empty()) throw CLI::RuntimeError(1);
}

}  // namespace eps::cli
