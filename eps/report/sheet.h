// Sheets: pictures in rows and columns with words above and beside them, as one image.
#pragma once

#include "eps/base/core.h"

namespace eps::report {

struct SheetRow {
  std::string label;
  std::vector<Tensor> cells;  // uint8 (C, H, W), C = 1 or 3, one a column; undefined: left empty
};

struct Sheet {
  std::vector<std::string> columns;
  std::vector<SheetRow> rows;
};

// Draws the sheet as uint8 (3, H, W): every cell `magnified` so many times, without smoothing, on
// white. Cells may differ in size; a column is as wide as its widest cell.
Tensor draw_sheet(const Sheet& sheet, int64_t magnified);

// Draws (H, W) numbers from 0 to `top` as uint8 (3, H, W), from black over red and yellow to white.
Tensor heat_map(const Tensor& values, double top);

}  // namespace eps::report
