// The verb `eps convert` joins checkpoints of any format into one .safetensors; with --show it
// prints the contents of one.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/verbs.h"
#include "eps/base/json.h"
#include "eps/base/printable.h"
#include "eps/io/torch/any_checkpoint.h"
#include "eps/io/torch/torch_storage.h"
#include "eps/model/bundled.h"
#include "eps/model/checkpoint.h"
#include "eps/model/foreign/families.h"

namespace eps::cli {
namespace {

struct ConvertOptions {
  std::vector<std::string> files;  // all but the last are read, with --show the only one
  std::string dtype;               // empty: each tensor keeps its own
  bool show = false, as_json = false;
};

std::vector<std::string> inputs(const ConvertOptions& options) {
  std::vector<std::string> files = options.files;
  if (!options.show) files.pop_back();
  for (std::string& file : files) file = find_model(file);
  return files;
}

void validate_conversion(const ConvertOptions& options) {
  if (options.show) {
    check(options.files.size() == 1,
          "convert: --show takes one file and writes none, got ",
          options.files.size());
    check(options.dtype.empty(), "convert: --dtype is for a file to write, and --show writes none");
  } else {
    check(!options.as_json, "convert: --json needs --show");
    check(options.files.size() >= 2,
          "convert: the file to write is missing: eps convert IN... OUT");
    const std::string& output = options.files.back();
    check(output.ends_with(".safetensors"),
          "convert: ",
          output,
          ": the name of the file to write must end in .safetensors");
    check_folder_of(output);
  }
}

// Returns the parsed metadata if the text is a JSON object, otherwise the text itself.
SortedJson metadata_value(const std::string& text) {
  try {
    SortedJson parsed = parse_sorted_json(text, "metadata", {});
    return parsed.is_object() ? parsed : SortedJson(text);
  } catch (const Error&) {
    return text;
  }
}

SortedJson describe(const Safetensors& checkpoint) {
  SortedJson tensors = SortedJson::array();
  for (const auto& [name, tensor] : checkpoint.tensors) {
    tensors.push_back({{"name", name},
                       {"dtype", dtype_name(tensor.scalar_type())},
                       {"shape", tensor.sizes().vec()}});
  }
  SortedJson description = {{"tensors", std::move(tensors)}};
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
    // JSON in ASCII holds no control sequences for the terminal.
    const SortedJson value = metadata_value(text);
    fmt::print(
        "{}: {}\n", printable(key), value.is_object() ? value.dump(2, ' ', true) : printable(text));
  }
}

at::ScalarType stored_dtype(const std::string& text) {
  if (text == "bfloat16") return at::kBFloat16;
  return text == "float16" ? at::kHalf : at::kFloat;
}

// Adds how a network of another program is read: its family and its configuration as ours, or why
// it is not read.
void describe_family(Safetensors& checkpoint) {
  const NetworkFamily* family = family_of(checkpoint);
  if (family == nullptr) return;
  checkpoint.metadata["family"] = family->name;
  try {
    checkpoint.metadata["read_as"] = as_checkpoint(checkpoint).metadata.at("config");
  } catch (const Error& error) {
    checkpoint.metadata["read_as"] = error.what();
  }
}

Safetensors read_inputs(const ConvertOptions& options) {
  const std::vector<std::string> files = inputs(options);
  if (files.size() > 1) return read_any_checkpoints(files);
  if (!options.show || is_network_spec(files[0])) return read_network(files[0]);
  Safetensors checkpoint = read_any_checkpoint(files[0]);
  describe_family(checkpoint);
  return checkpoint;
}

void run_convert(const ConvertOptions& options) {
  validate_conversion(options);
  Safetensors checkpoint = read_inputs(options);
  if (!options.dtype.empty()) checkpoint = stored_as(checkpoint, stored_dtype(options.dtype));
  if (!options.show) {
    write_safetensors(options.files.back(), checkpoint);
  } else if (options.as_json) {
    fmt::print("{}\n", describe(checkpoint).dump(2, ' ', true));
  } else {
    print_table(checkpoint);
  }
}

}  // namespace

void add_convert(CLI::App& app) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = app.add_subcommand(
      "convert", "Turn checkpoints (.pkl, .pt, .pth, .ckpt) into one .safetensors, or show one");
  verb->add_option(
          "files",
          options->files,
          "IN... OUT: checkpoints (EDM snapshots, torch.save files, .safetensors, folders of "
          "diffusers, names of eps list models), whose tensors go into one file, and that file, "
          "*.safetensors")
      ->required();
  verb->add_option("--dtype",
                   options->dtype,
                   "Store numbers as float32, bfloat16 or float16 (default: unchanged)")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}));
  verb->add_flag("--show", options->show, "List the tensors and the configuration, write nothing");
  verb->add_flag("--json", options->as_json, "With --show: print JSON");
  verb->callback([options] { run_convert(*options); });
}

}  // namespace eps::cli
