// The folder of a cell: what is written comes back, and a file of another program is named.
#include "eps/experiment/cell_folder.h"

#include <cmath>

#include "tests/files.h"

namespace eps::experiment {
namespace {

TEST(CellFolder, RowsComeBackWithoutWhatJsonCannotHold) {
  const Folder folder;
  const CellFolder cell(folder.file(""), /*of_mean=*/false);
  EXPECT_FALSE(cell.any_row());
  report::Row row;
  row.task = "grey";
  row.method = "im\xff";
  row.nfe = 1.5;
  row.metrics["psnr"] = {20.25, std::nan("")};
  cell.write_row(row, "ours");
  EXPECT_FALSE(cell.row("theirs"));
  const report::Row back = cell.row("ours").value();
  EXPECT_EQ(back.task, "grey");
  EXPECT_EQ(back.method, "im\xef\xbf\xbd");
  EXPECT_EQ(back.nfe, 1.5);
  EXPECT_EQ(back.metrics.at("psnr").value, 20.25);
  EXPECT_TRUE(std::isnan(back.metrics.at("psnr").se));
}

TEST(CellFolder, NamesTheFileAndWhatIsWrongInIt) {
  const Folder folder;
  const CellFolder cell(folder.file(""), /*of_mean=*/false);
  const std::string row = cell.file("row.json"), sampling = cell.file("sampling.json");
  const std::string again = "; remove the file to do its cell again";
  const auto error = [&](const std::string& text) {
    put_bytes(row, text);
    return error_of([&] { cell.any_row(); });
  };
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(error(R"({"judges": "ours", "rows": )" + deep + "}"),
            row + ": nests deeper than 64 levels" + again);
  EXPECT_EQ(error("{}"), row + ": rows is missing" + again);
  EXPECT_EQ(error(R"({"rows": []})"), row + ": rows must be a list of one row" + again);
  EXPECT_EQ(error(R"({"rows": [{"task": 1}]})"), row + ": task must be text, got 1" + again);
  put_bytes(sampling, R"({"evaluations": 1.5})");
  EXPECT_EQ(error_of([&] { cell.sampling(); }),
            sampling + ": evaluations must be a whole number, got 1.5" + again);
}

}  // namespace
}  // namespace eps::experiment
