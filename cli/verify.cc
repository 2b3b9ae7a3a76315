// The verb `eps verify` checks the mathematics numerically on this machine and prints a table.
#include "eps/verify/verify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/method_table.h"
#include "cli/output.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/base/json.h"
#include "eps/io/file.h"

namespace eps::cli {
namespace {

struct VerifyOptions {
  uint64_t seed = 1;
  bool methods = false;
  std::string json;
};

// Returns 12 characters: the number, and a mark if the claim fails.
std::string claim_cell(const VerifyRow& row) {
  const bool standard_errors = row.bound >= 1;
  const std::string number =
      standard_errors ? fmt::format("{:.1f} se", row.value) : fmt::format("{:.1e}", row.value);
  return fmt::format("{:>11}{}", number, row.passed() ? " " : "!");
}

// A `Table` prints one line per subject with its claims side by side, once the next subject begins.
class Table {
 public:
  void add(const VerifyRow& row) {
    if (row.table != table_) begin_table(row);
    if (row.subject != subject_) {
      finish_line();
      subject_ = row.subject;
      passed_ = true;
    }
    header_.push_back(row.claim);
    cells_ += claim_cell(row);
    passed_ = passed_ && row.passed();
  }

  void finish_line() {
    if (subject_.empty()) return;
    if (!header_printed_) {
      std::string names;
      for (const auto& name : header_) names += fmt::format("{:>11} ", name);
      fmt::print("\n{:<58}{}\n", table_, names);
      header_printed_ = true;
    }
    fmt::print("{:<58}{} {}\n", subject_, cells_, passed_ ? "ok" : "FAILED");
    std::fflush(stdout);
    cells_.clear();
    header_.clear();
    subject_.clear();
  }

 private:
  void begin_table(const VerifyRow& row) {
    finish_line();
    table_ = row.table;
    header_printed_ = false;
  }

  std::string table_, subject_, cells_;
  std::vector<std::string> header_;
  bool header_printed_ = false;
  bool passed_ = true;
};

void write_claims(const std::string& path, const std::vector<VerifyRow>& rows, bool passed) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back({{"table", row.table},
                    {"subject", row.subject},
                    {"claim", row.claim},
                    {"value", row.value},
                    {"bound", row.bound},
                    {"passed", row.passed()}});
  write_file_atomically(path, json_text({{"passed", passed}, {"rows", list}}, 2) + "\n");
}

void run_verify(const VerifyOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Table table;
  const auto rows = verify(options.seed, [&](const VerifyRow& row) { table.add(row); });
  table.finish_line();
  size_t failed = 0;
  for (const auto& row : rows) failed += !row.passed();

  fmt::print("\nThe columns (se: standard errors, 5 allowed):\n");
  for (const auto& [name, meaning] : verify_claims()) fmt::print("  {:<10} {}\n", name, meaning);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("\n{} claims, {} hold, {} fail; {:.0f} s\n",
             rows.size(),
             rows.size() - failed,
             failed,
             seconds);
  if (!options.json.empty()) write_claims(options.json, rows, failed == 0);
  if (failed > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_verify(CLI::App& app) {
  const auto options = std::make_shared<VerifyOptions>();
  auto* verb = app.add_subcommand(
      "verify", "Check the mathematics on this machine; exit code 1 if a claim fails");
  verb->add_option("--seed", options->seed, "Seed of the simulations")
      ->check(seed_up_to())
      ->capture_default_str();
  verb->add_option("--json", options->json, "Also write the rows to this file");
  verb->add_flag("--methods",
                 options->methods,
                 "Check instead every method against posteriors known in closed form");
  verb->callback([options] {
    check_folder_of(options->json);
    options->methods ? print_method_table(options->seed, options->json) : run_verify(*options);
  });
}

}  // namespace eps::cli
