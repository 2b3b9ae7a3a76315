// eps convert: any checkpoint to .safetensors, and eps convert --show: what a checkpoint holds.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "eps/io/any_checkpoint.h"
#include "eps/io/bytes.h"
#include "eps/io/torch_storage.h"

namespace eps::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Options {
  std::string input, output;
  bool show = false, as_json = false;
};

void validate(const Options& options) {
  if (options.show) {
    check(options.output.empty(), "convert: --show writes no file, got ", options.output);
    return;
  }
  check(!options.as_json, "convert: --json needs --show");
  check(!options.output.empty(), "convert: the file to write is missing: eps convert IN OUT");
  const fs::path output = options.output;
  check(output.extension() == ".safetensors",
        "convert: ",
        options.output,
        ": the name of the file to write must end in .safetensors");
  std::error_code ignored;  // what cannot be looked at is no folder
  const fs::path folder = output.has_parent_path() ? output.parent_path() : ".";
  check(fs::is_directory(folder, ignored), "convert: ", options.output, ": no such folder");
  check(!fs::is_directory(output, ignored), "convert: ", options.output, ": is a folder");
}

// The JSON object that a metadata text is, otherwise the text. Text from strangers may nest deeper
// than a stack can follow: what is deeper than any configuration is dropped.
json metadata_value(const std::string& text) {
  constexpr int kDeepest = 100;
  const auto keep = [](int depth, json::parse_event_t, json&) { return depth <= kDeepest; };
  json parsed = json::parse(text, keep, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : json(text);
}

json describe(const Safetensors& checkpoint) {
  json tensors = json::array();
  for (const auto& [name, tensor] : checkpoint.tensors) {
    tensors.push_back({{"name", name},
                       {"dtype", dtype_name(tensor.scalar_type())},
                       {"shape", tensor.sizes().vec()}});
  }
  json description = {{"tensors", std::move(tensors)}};
  for (const auto& [key, text] : checkpoint.metadata) {
    description["metadata"][key] = metadata_value(text);
  }
  return description;
}

void print_table(const Safetensors& checkpoint) {
  size_t width = 0;
  int64_t elements = 0;
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    width = std::max(width, std::min<size_t>(name.size(), 80));
    elements += tensor.numel();
    bytes += tensor.numel() * tensor.element_size();
  }
  for (const auto& [name, tensor] : checkpoint.tensors) {
    fmt::print("{:<{}}  {:<8}  {}\n",
               printable(name),
               width,
               dtype_name(tensor.scalar_type()),
               to_string(tensor.sizes()));
  }
  fmt::print("{} tensors, {} elements, {} bytes\n", checkpoint.tensors.size(), elements, bytes);
  for (const auto& [key, text] : checkpoint.metadata) {
    // As JSON in ASCII: nothing in it can drive the terminal.
    const json value = metadata_value(text);
    fmt::print(
        "{}: {}\n", printable(key), value.is_object() ? value.dump(2, ' ', true) : printable(text));
  }
}

void run_convert(const Options& options) {
  validate(options);
  const Safetensors checkpoint = read_any_checkpoint(options.input);
  if (!options.show) return write_safetensors(options.output, checkpoint);
  if (options.as_json) {
    fmt::print("{}\n", describe(checkpoint).dump(2, ' ', true));
  } else {
    print_table(checkpoint);
  }
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "convert", "Turn a checkpoint (.pkl, .pt, .pth, .ckpt) into .safetensors, or show it");
  verb->add_option("in", options->input, "Checkpoint: EDM snapshot, torch.save file, .safetensors")
      ->required()
      ->check(CLI::ExistingFile);
  verb->add_option("out", options->output, "File to write, *.safetensors");
  verb->add_flag("--show", options->show, "List the tensors and the configuration, write nothing");
  verb->add_flag("--json", options->as_json, "With --show: as JSON");
  verb->callback([options] { run_convert(*options); });
}

}  // namespace eps::cli
