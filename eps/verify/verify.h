// `eps verify`: the mathematics of the paper, tested on this machine, as rows of numbers and
// bounds.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `VerifyRow` is one claim about one subject, which holds if |value| <= bound.
struct VerifyRow {
  std::string table;    // "operators", "functions", "samplers", "images", "tiles"
  std::string subject;  // an operator spec; a solver on a schedule; a prior with an operator
  std::string claim;    // the column of the table
  double value;
  double bound;
  bool passed() const { return value <= bound && value >= -bound; }  // false for NaN
};

// Returns the name and the meaning, one line, of each claim in the order of the columns.
const std::vector<std::pair<std::string, std::string>>& verify_claims();

// Tests all claims; calls `report` after each row.
std::vector<VerifyRow> verify(uint64_t seed, const std::function<void(const VerifyRow&)>& report);

}  // namespace eps
