// The verb `eps demo` degrades and restores bundled photographs, or faces, and draws them on one
// sheet.
#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "cli/output.h"
#include "cli/restore.h"
#include "cli/verbs.h"
#include "eps/io/images/image.h"
#include "eps/model/bundled.h"
#include "eps/report/restored_files.h"

namespace eps::cli {
namespace {

// A `DemoRow` is a row of the sheet, the result of `eps restore IMAGE --simulate --operator SPEC
// --noise sigma=SIGMA`.
struct DemoRow {
  const char *label, *image, *spec;
  double sigma_y = kSimulatedNoise;
};

// A `Demo` is a folder of images with a network for them, and rows.
struct Demo {
  const char *network, *folder;
  std::vector<DemoRow> rows;
};

const Demo kFaces = {"faces64-eps",
                     "faces64-images",
                     {{"random inpainting", "01.png", "random_inpainting"},
                      {"box inpainting", "02.png", "box_inpainting"},
                      {"super resolution 4x", "03.png", "super_resolution_4x"},
                      {"gaussian deblurring", "04.png", "gaussian_deblurring"},
                      {"motion deblurring", "05.png", "motion_deblurring"}}};

const Demo kPhotos = {
    "photos-eps-small",
    "photos-images",
    {{"70% missing", "flowers.png", "inpaint_random:missing=0.7", 0.02},
     {"a quarter of the size", "dog.png", "downscale:factor=4,filter=bicubic", 0.02},
     {"noise", "bulb.png", "identity", 0.2},
     {"shaken", "nyc.png", "blur_motion:length=15,angle=30,border=valid", 0.02},
     {"out of focus", "guitar.png", "blur_disk:radius=3,border=valid", 0.02},
     {"camera mosaic", "path.png", "bayer:pattern=rggb", 0.05}}};

struct DemoOptions {
  ModelOptions network{.path = ""};
  bool faces = false;
  std::string out = "demo.png";
};

void run_demo(DemoOptions o) {
  check(is_png(o.out), "--out ", o.out, ": a .png file is wanted");
  check_folder_of(o.out);
  const Demo& demo = o.faces ? kFaces : kPhotos;
  o.network.path = demo.network;
  const std::string folder = std::filesystem::proximate(find_in_models(demo.folder)).string();
  const Checkpoint model = load_restoring_network(o.network);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string, RestorationResult>> rows;
  for (const DemoRow& row : demo.rows) {
    const RestorationRequest request{.input = folder + "/" + row.image,
                                     .operator_options = {.spec = row.spec},
                                     .simulate = true,
                                     .sigma_y = row.sigma_y,
                                     .options = {.samples = 0, .batch = 0}};
    rows.emplace_back(row.label, restore_in_sight(request, o.network, model));
    const RestorationReport& report = rows.back().second.report;
    fmt::print(
        "eps restore {} --simulate --operator {} --noise sigma={:g}{}\n    chi2 {:.2f}, PSNR of "
        "the mean {:.2f} dB\n",
        request.input,
        row.spec,
        row.sigma_y,
        o.faces ? " --model faces64-eps" : "",
        report.chi2,
        report.psnr_of_mean.value_or(0));
    std::cout.flush();
  }
  write_png(o.out, report::restored_sheet(rows));
  fmt::print("{:.0f} s; sheet: {}\n",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
             o.out);
}

}  // namespace

void add_demo(CLI::App& app) {
  const auto o = std::make_shared<DemoOptions>();
  auto* verb = app.add_subcommand("demo", "Degrade and restore the bundled photographs");
  verb->add_flag("--faces", o->faces, "Faces of 64 x 64 pixels instead");
  verb->add_option("--out", o->out, "Sheet to write")->capture_default_str();
  add_device_options(*verb, o->network);
  verb->callback([o] { run_demo(*o); });
}

}  // namespace eps::cli
