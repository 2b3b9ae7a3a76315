// The verb `eps demo` degrades and restores the bundled images and draws them on one sheet.
#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "cli/output.h"
#include "cli/restore.h"
#include "cli/verbs.h"
#include "eps/io/images/image.h"
#include "eps/model/bundled.h"

namespace eps::cli {
namespace {

// A `DemoRow` is a row of the sheet, the result of `eps restore IMAGE --simulate --operator TASK`.
struct DemoRow {
  const char *label, *image, *task;
};
constexpr DemoRow kRows[] = {{"random inpainting", "01.png", "random_inpainting"},
                             {"box inpainting", "02.png", "box_inpainting"},
                             {"super resolution 4x", "03.png", "super_resolution_4x"},
                             {"gaussian deblurring", "04.png", "gaussian_deblurring"},
                             {"motion deblurring", "05.png", "motion_deblurring"}};

struct DemoOptions {
  ModelOptions network{.path = "faces64-eps"};
  std::string out = "demo.png";
};

void run_demo(const DemoOptions& o) {
  check(is_png(o.out), "--out ", o.out, ": a .png file is wanted");
  check_folder_of(o.out);
  const std::string folder = std::filesystem::proximate(find_in_models("faces64-images")).string();
  const Checkpoint model = load_restoring_network(o.network);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string, RestorationResult>> rows;
  for (const DemoRow& row : kRows) {
    const RestorationRequest request{.input = folder + "/" + row.image,
                                     .operator_options = {.spec = row.task},
                                     .simulate = true};
    rows.emplace_back(row.label, restore_in_sight(request, o.network, model));
    const RestorationReport& report = rows.back().second.report;
    fmt::print(
        "eps restore {} --simulate --operator {}\n    chi2 {:.2f}, PSNR of the mean {:.2f} dB\n",
        request.input,
        row.task,
        report.chi2,
        report.psnr_of_mean.value_or(0));
    std::cout.flush();
  }
  write_png(o.out, sheet(rows));
  fmt::print("{:.0f} s; sheet: {}\n",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
             o.out);
}

}  // namespace

void add_demo(CLI::App& app) {
  const auto o = std::make_shared<DemoOptions>();
  auto* verb = app.add_subcommand("demo", "Degrade and restore the bundled images");
  verb->add_option("--out", o->out, "Sheet to write")->capture_default_str();
  add_device_options(*verb, o->network);
  verb->callback([o] { run_demo(*o); });
}

}  // namespace eps::cli
