// The verb `eps gallery` draws what operators make of an image, on one sheet.
#include <fmt/format.h>

#include <cmath>
#include <regex>

#include "cli/output.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/io/images/image.h"
#include "eps/operators/registry.h"
#include "eps/report/sheet.h"

namespace eps::cli {
namespace {

struct GalleryOptions {
  std::string image, out;
  std::vector<std::string> specs;
  int64_t columns = 6, magnified = 3;
  double sigma_y = 0.05;
  uint64_t seed = 0;
};

// Returns the image with the channels that the operator takes; an operator of complex images gets a
// grey one, whose imaginary part is 0.
Tensor image_for(const std::string& spec, const Tensor& image) {
  const int64_t channels = channels_of(spec, image.size(1));
  if (channels == image.size(1)) return image;
  const Tensor grey = image.mean(1, true);
  return channels == 2 ? at::cat({grey, at::zeros_like(grey)}, 1)
                       : grey.expand({-1, channels, -1, -1});
}

// Returns picture(y) of a noisy measurement; of a complex image, the real part.
Tensor measured_picture(const std::string& spec, const Tensor& image, const GalleryOptions& o) {
  const Tensor x0 = image_for(spec, image);
  Rng rng(o.seed);
  const Operator A = make_operator(spec, x0, rng);
  const Problem problem = observe(A, x0, scalar(o.sigma_y), rng);
  const Tensor picture = A->format().picture(problem.y)[0];
  return to_uint8(picture.size(0) == 2 ? picture.slice(0, 0, 1) : picture);
}

// Returns a spec with spaces, where a label may be broken.
std::string label_of(const std::string& spec) {
  return std::regex_replace(spec, std::regex("[:,](?=[a-z])"), "$& ");
}

std::vector<std::string> examples() {
  std::vector<std::string> specs;
  for (const auto& [name, entry] : operators())
    if (!entry.example.empty()) specs.push_back(entry.example);
  return specs;
}

// Puts sheets below each other, each filled up with white on the right.
Tensor stack_sheets(const std::vector<Tensor>& sheets) {
  int64_t width = 0;
  for (const Tensor& sheet : sheets) width = std::max(width, sheet.size(2));
  std::vector<Tensor> wide;
  for (const Tensor& sheet : sheets)
    wide.push_back(at::constant_pad_nd(sheet, {0, width - sheet.size(2)}, 255));
  return at::cat(wide, 1);
}

void run_gallery(const GalleryOptions& o) {
  check(o.sigma_y >= 0 && std::isfinite(o.sigma_y),
        "--sigma-y ",
        o.sigma_y,
        ": a number >= 0 is wanted, in units of [-1, 1]");
  check(is_png(o.out), o.out, ": a .png file is wanted");
  check_folder_of(o.out);
  const std::vector<std::string> specs = o.specs.empty() ? examples() : o.specs;
  for (const std::string& spec : specs) parse_operator(spec);
  const Tensor bytes = read_image(o.image);
  const Tensor image = from_uint8(bytes).to(at::kDouble).unsqueeze(0);
  std::vector<std::string> labels = {"the image"};
  std::vector<Tensor> cells = {bytes};
  for (const std::string& spec : specs) {
    labels.push_back(label_of(spec));
    cells.push_back(measured_picture(spec, image, o));
  }
  std::vector<Tensor> sheets;
  for (size_t begin = 0; begin < cells.size(); begin += static_cast<size_t>(o.columns)) {
    const size_t end = std::min(cells.size(), begin + static_cast<size_t>(o.columns));
    const auto part = [&](auto& all) {
      return std::decay_t<decltype(all)>(all.begin() + static_cast<ptrdiff_t>(begin),
                                         all.begin() + static_cast<ptrdiff_t>(end));
    };
    sheets.push_back(
        report::draw_sheet({.columns = part(labels), .rows = {{"", part(cells)}}}, o.magnified));
  }
  write_png(o.out, stack_sheets(sheets));
}

}  // namespace

void add_gallery(CLI::App& app) {
  const auto o = std::make_shared<GalleryOptions>();
  auto* verb = app.add_subcommand("gallery", "Draw what operators measure of an image, on a sheet");
  verb->add_option("IMAGE", o->image, "PNG or JPEG")->required();
  verb->add_option("OUT", o->out, "Sheet to write, .png")->required();
  verb->add_option("SPEC", o->specs, "Operators; the examples of all that need no file if none");
  verb->add_option("--columns", o->columns, "Pictures in a row")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--magnify", o->magnified, "Pixels of the sheet along a pixel's side")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--sigma-y", o->sigma_y, "Noise of the measurements, in units of [-1, 1]")
      ->capture_default_str();
  verb->add_option("--seed", o->seed, "Seed of random operators and of the noise")
      ->check(seed_up_to())
      ->capture_default_str();
  verb->callback([o] { run_gallery(*o); });
}

}  // namespace eps::cli
