// The verb `eps dataset` describes a data set, or writes one as an EDM archive.
#include "eps/data/dataset.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/output.h"
#include "cli/verbs.h"

namespace eps::cli {
namespace {

struct DatasetActionOptions {
  std::vector<std::string> paths;
  DatasetOptions read;
};

void report_skipped(const std::string& fault) { fmt::print(stderr, "eps: skipped: {}\n", fault); }

std::string describe_labels(const Dataset& dataset) {
  if (!dataset.labels.defined()) return "none";
  if (dataset.labels.dim() == 2) return fmt::format("vectors of {}", dataset.label_dim);
  const Tensor counts = at::bincount(dataset.labels, {}, dataset.label_dim);
  return fmt::format("{} classes of {} to {} images",
                     dataset.label_dim,
                     counts.min().item<int64_t>(),
                     counts.max().item<int64_t>());
}

void print_numbers(const char* name, const std::vector<double>& numbers) {
  fmt::print("{}", name);
  for (const double number : numbers) fmt::print(" {:.4f}", number);
  fmt::print("\n");
}

void run_info(const DatasetActionOptions& o) {
  const Dataset dataset = read_dataset(o.paths, o.read);
  const ChannelMoments moments = channel_moments(dataset.images);
  fmt::print("images   {}\n", dataset.size());
  fmt::print("skipped  {}\n", dataset.skipped);
  fmt::print("size     {} x {}\n", dataset.images.size(3), dataset.images.size(2));
  fmt::print("channels {}\n", dataset.images.size(1));
  fmt::print("labels   {}\n", describe_labels(dataset));
  print_numbers("mean    ", moments.mean);
  print_numbers("std     ", moments.std);
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
  const Dataset dataset = read_dataset(sources, o.read);
  write_edm_zip(output, dataset);
  fmt::print("{}: {} images of {}, labels: {}, skipped: {}\n",
             output,
             dataset.size(),
             to_string(dataset.images.sizes().slice(1)),
             describe_labels(dataset),
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
      verb->add_subcommand("info", "Print count, size, channels, labels, mean and deviation");
  const auto info_options = add_action(
      *info, "SOURCE", "Folder of images, EDM archive (.zip) or synthetic:...; see eps list");
  info->callback([info_options] { run_info(*info_options); });
  auto* pack = verb->add_subcommand("pack", "Write sources as one EDM archive");
  const auto pack_options =
      add_action(*pack, "SOURCE", "Folders, archives or synthetic:..., and last the .zip to write");
  pack->get_option("SOURCE")->expected(2, CLI::detail::expected_max_vector_size);
  pack->callback([pack_options] { run_pack(*pack_options); });
}

}  // namespace eps::cli
