// Rows of a report as JSON values.
#pragma once

#include "eps/base/json.h"
#include "eps/report/report.h"

namespace eps::report {

// Returns an object with the fields of Row. NaN and infinities are null once it is text.
Json row_json(const Row& row);
// Returns the row that row_json() described. A field that is missing, unknown or of the wrong type
// is an Error that begins with `where`; null for a number is NaN.
Row parse_row(const Json& json, const std::string& where);

}  // namespace eps::report
