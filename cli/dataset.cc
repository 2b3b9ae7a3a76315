// The verb `eps dataset` describes a data set, or writes one as an archive.
#include <fmt/format.h>

#include <filesystem>

#include "cli/output.h"
#include "cli/verbs.h"
#include "eps/data/pictures.h"
#include "eps/data/summary.h"

namespace eps::cli {
namespace {

struct DatasetActionOptions {
  std::vector<std::string> paths;
  DatasetOptions read;
  bool keep_size = false;
};

void report_skipped(const std::string& fault) { fmt::print(stderr, "eps: skipped: {}\n", fault); }

std::string describe_labels(const Tensor& labels, int64_t label_dim) {
  if (!labels.defined()) return "none";
  if (labels.dim() == 2) return fmt::format("vectors of {}", label_dim);
  const Tensor counts = at::bincount(labels, {}, label_dim);
  return fmt::format("{} classes of {} to {} images",
                     label_dim,
                     counts.min().item<int64_t>(),
                     counts.max().item<int64_t>());
}

void print_numbers(const char* name, const std::vector<double>& numbers) {
  fmt::print("{}", name);
  for (const double number : numbers) fmt::print(" {:.4f}", number);
  fmt::print("\n");
}

void run_info(const DatasetActionOptions& o) {
  const DatasetSummary summary = summary_of(o.paths, o.read);
  fmt::print("images   {}\n", summary.images);
  fmt::print("skipped  {}\n", summary.skipped);
  const auto &low = summary.smallest, &high = summary.largest;
  if (summary.one_size()) {
    fmt::print("size     {} x {}\n", high.width, high.height);
  } else {
    fmt::print(
        "sizes    {} to {} wide, {} to {} high\n", low.width, high.width, low.height, high.height);
    fmt::print("area     {:.1f} megapixels\n", static_cast<double>(summary.pixels) / 1e6);
  }
  fmt::print("channels {}\n", summary.channels);
  if (summary.one_size())
    fmt::print("labels   {}\n", describe_labels(summary.labels, summary.label_dim));
  print_numbers("mean    ", summary.moments.mean);
  print_numbers("std     ", summary.moments.std);
}

// Refuses an output name that is no .zip, whose folder is missing, or that would overwrite a
// source.
void check_archive(const std::string& output, const std::vector<std::string>& sources) {
  check(std::filesystem::path(output).extension() == ".zip",
        "dataset pack: ",
        output,
        ": the name of the file to write, the last one, must end in .zip");
  check_folder_of(output);
  std::error_code ignored;  // an unreadable path is no source
  for (const auto& source : sources) {
    check(!std::filesystem::equivalent(source, output, ignored),
          "dataset pack: ",
          output,
          ": is also one of the sources");
  }
}

void run_pack(const DatasetActionOptions& o) {
  const std::vector<std::string> sources(o.paths.begin(), o.paths.end() - 1);
  const std::string& output = o.paths.back();
  check_archive(output, sources);
  if (o.keep_size) {
    const PackedPictures packed = write_picture_zip(output, sources, o.read);
    fmt::print("{}: {} pictures, {} of them converted, skipped: {}\n",
               output,
               packed.pictures,
               packed.converted,
               packed.skipped);
    return;
  }
  const Dataset dataset = read_dataset(sources, o.read);
  write_edm_zip(output, dataset);
  fmt::print("{}: {} images of {}, labels: {}, skipped: {}\n",
             output,
             dataset.size(),
             to_string(dataset.images.sizes().slice(1)),
             describe_labels(dataset.labels, dataset.label_dim),
             dataset.skipped);
}

std::shared_ptr<DatasetActionOptions> add_action(CLI::App& action,
                                                 const char* paths,
                                                 const char* help) {
  const auto o = std::make_shared<DatasetActionOptions>();
  o->read.report = report_skipped;
  action.add_option(paths, o->paths, help)->required();
  action.add_option("--size", o->read.size, "Side in pixels; 0: that of the images")
      ->check(CLI::Range(0, 8192))
      ->capture_default_str();
  action
      .add_option("--fit", o->read.fit, "crop: the centred square, then resized; resize: stretched")
      ->check(CLI::IsMember({"crop", "resize"}))
      ->capture_default_str();
  action.add_option("--channels", o->read.channels, "1 or 3: convert; 0: that of the first image")
      ->check(CLI::IsMember({0, 1, 3}))
      ->capture_default_str();
  action.add_option("--limit", o->read.limit, "Use only the first N images; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  action.add_flag("--strict", o->read.strict, "Stop at an image that cannot be read");
  return o;
}

}  // namespace

void add_dataset(CLI::App& app) {
  auto* verb = app.add_subcommand("dataset", "Describe a data set, or pack it into one archive");
  verb->require_subcommand(1);
  auto* info =
      verb->add_subcommand("info", "Print count, sizes, channels, labels, mean and deviation");
  const auto info_options = add_action(
      *info, "SOURCE", "Folder of images, EDM archive (.zip) or synthetic:...; see eps list");
  info->callback([info_options] { run_info(*info_options); });
  auto* pack = verb->add_subcommand("pack", "Write sources as one archive, EDM's or a plain one");
  const auto pack_options =
      add_action(*pack, "SOURCE", "Folders, archives or synthetic:..., and last the .zip to write");
  pack->add_flag("--keep-size",
                 pack_options->keep_size,
                 "Write pictures of any sizes, under their names, copied where they need no "
                 "conversion")
      ->excludes("--size");
  pack->get_option("SOURCE")->expected(2, CLI::detail::expected_max_vector_size);
  pack->callback([pack_options] { run_pack(*pack_options); });
}

}  // namespace eps::cli
