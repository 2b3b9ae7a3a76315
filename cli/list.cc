// The verb `eps list` prints everything registered, by name.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/verbs.h"
#include "eps/base/printable.h"
#include "eps/data/dataset.h"
#include "eps/diffusion/sampler.h"
#include "eps/methods/method.h"
#include "eps/metrics/metric.h"
#include "eps/model/bundled.h"
#include "eps/model/checkpoint.h"
#include "eps/model/foreign/families.h"
#include "eps/model/scripted/torchscript.h"
#include "eps/operators/task.h"
#include "eps/priors/exact_data.h"

namespace eps::cli {
namespace {

void print_fields(const std::vector<Field>& fields) {
  for (const auto& field : fields) {
    fmt::print("    {:<18} {}{}{}\n",
               field.name,
               field.help,
               field.value.empty() ? "" : " [" + field.value + "]",
               field.domain().empty() ? "" : ": " + field.domain());
  }
}

void list_datasets() {
  fmt::print("datasets (a folder of images, an EDM archive .zip, or name:key=value,...)\n");
  fmt::print("  {:<20} shapes and textures, drawn without files\n", "synthetic");
  print_fields(synthetic_fields());
  fmt::print("  {:<20} drawn from a prior with a known denoiser, for eps bench\n", "exact");
  print_fields(exact_data_fields());
}

// Returns the cost of a sample with the default options, divided by `parts`: "1 evaluation, 2.5
// VJPs".
std::string cost_of(const Method& method, double parts) {
  const Cost cost = measured_cost(choose_method(method.name));
  std::string text;
  const auto add = [&](int64_t count, const char* name) {
    if (count == 0) return;
    const double each = static_cast<double>(count) / parts;
    text +=
        fmt::format("{}{:.4g} {}{}", text.empty() ? "" : ", ", each, name, each == 1 ? "" : "s");
  };
  add(cost.evaluations, "evaluation");
  add(cost.vjps, "VJP");
  add(cost.solves, "solve");
  return text;
}

// Returns the cost of a step, or of a sample for a method without steps.
std::string cost_of(const Method& method) {
  const Spec options = choose_method(method.name).options;
  if (!options.has("steps")) return "a sample: " + cost_of(method, 1);
  return "a step: " + cost_of(method, static_cast<double>(options.integer("steps")));
}

void list_methods() {
  fmt::print(
      "methods (name:key=value,...; a kind of operator may have values of its own; a | b has the "
      "last kind of its operators in this order, a + b the first)\n");
  for (const auto& kind : operator_kinds()) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : operators())
      if (entry.kind == kind) names.push_back(name);
    fmt::print("  kind {:<15} {}\n", kind, fmt::join(names, ", "));
  }
  for (const auto& [name, method] : methods()) {
    fmt::print("  {:<20} {}\n", name, method.summary);
    fmt::print(
        "  {:<20} network for the input {}; {}\n", "", to_string(method.input), cost_of(method));
    print_fields(method.fields);
    for (const auto& [kind, values] : method.kinds) fmt::print("    {:<18} {}\n", kind, values);
  }
}

void list_metrics() {
  fmt::print("metrics (eps metrics, eps bench)\n");
  for (const auto& metric : metrics()) fmt::print("  {:<28} {}\n", metric.name, metric.help);
}

// Returns a line such as "input eps, 3 x 64 x 64, 61.8 million parameters, 2 million images seen;
// box_inpainting, ...".
std::string summary_of_model(const std::string& path) {
  const Safetensors file = read_safetensors(path);
  // The folder may also hold the weights of a metric.
  if (!file.metadata.contains("config")) return fmt::format("{} tensors", file.tensors.size());
  const Checkpoint model = checkpoint_from(file, path);
  const nets::UNetConfig& network = model.network.config();
  int64_t parameters = 0;
  for (const auto& [name, tensor] : model.network.parameters()) parameters += tensor.numel();
  const std::string size = network.is_local()
                               ? fmt::format("{} channels of any size", network.img_channels)
                               : fmt::format("{} x {} x {}",
                                             network.img_channels,
                                             network.img_resolution,
                                             network.img_resolution);
  std::string text = fmt::format("input {}, {}, {:.3g} million parameters",
                                 to_string(model.input.without(Channel::skip)),
                                 size,
                                 static_cast<double>(parameters) / 1e6);
  const Provenance& origin = model.provenance;
  if (origin.images_seen > 0)
    text +=
        fmt::format(", {:.3g} million images seen", static_cast<double>(origin.images_seen) / 1e6);
  // Operators by name: `eps convert --show` has their ranges, which may be many.
  std::vector<std::string> names;
  for (const std::string& task : origin.tasks) {
    const std::string name = operator_name(task);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for (size_t k = 0; k < names.size(); ++k) text += (k ? ", " : "; ") + printable(names[k]);
  return text;
}

// Returns the summary, or the error for a damaged file, so that the list continues.
std::string summary_or_error(const std::string& path) {
  try {
    return summary_of_model(path);
  } catch (const Error& error) {
    return error.what();
  }
}

void list_models() {
  const std::vector<std::string> names = model_names();
  fmt::print("models (a name serves wherever a network is given; EPS_MODELS may name a folder)\n");
  for (const auto& name : names)
    fmt::print("  {:<20} {}\n", name, summary_or_error(find_in_models(name + ".safetensors")));
  if (names.empty()) fmt::print("  none; looked in\n");
  std::error_code ignored;  // an unreadable folder counts as absent
  for (const auto& folder : model_folders())
    if (names.empty() || std::filesystem::is_directory(folder, ignored))
      fmt::print("  {:<20} {}\n", names.empty() ? "" : "folder", folder);
  fmt::print(
      "networks of other programs (recognised by their tensors; name:file=F,key=value,... states "
      "what those do not tell)\n");
  for (const NetworkFamily& family : network_families()) {
    fmt::print("  {:<20} {}\n", family.name, family.summary);
    print_fields(family.fields);
  }
  fmt::print(
      "  {:<20} {}\n", "torchscript", "a denoiser of torch.jit; the code in the file is run");
  print_fields(scripted_fields());
}

void list_operators() {
  fmt::print(
      "operators (name:key=value,...; \"a | b\" applies a, then b; \"a + b\" measures both)\n");
  for (const auto& [name, entry] : operators()) {
    fmt::print("  {:<20} {}\n", name, entry.summary);
    print_fields(entry.fields);
  }
}

void list_tasks() {
  fmt::print("tasks (also: random_inpainting_<percent missing>, or any operator)\n");
  for (const auto& [name, task] : tasks()) {
    fmt::print("  {:<22} {}\n", name, task.test);
    if (task.train != task.test) fmt::print("  {:<22} {} (training)\n", "", task.train);
  }
}

void list_schedules() {
  fmt::print("schedules\n");
  for (const auto& [name, schedule] : schedules()) fmt::print("  {}\n", name);
}

void list_solvers() {
  fmt::print("solvers\n");
  for (const auto& name : solvers()) fmt::print("  {}\n", name);
}

}  // namespace

void add_list(CLI::App& app) {
  const auto kind = std::make_shared<std::string>();
  static const std::map<std::string, void (*)()> kinds = {{"datasets", list_datasets},
                                                          {"methods", list_methods},
                                                          {"metrics", list_metrics},
                                                          {"models", list_models},
                                                          {"operators", list_operators},
                                                          {"tasks", list_tasks},
                                                          {"schedules", list_schedules},
                                                          {"solvers", list_solvers}};
  auto* verb = app.add_subcommand("list", "List everything registered, by name");
  verb->add_option("KIND",
                   *kind,
                   "datasets, methods, metrics, models, operators, tasks, schedules or solvers; "
                   "everything if not given")
      ->check(CLI::IsMember(&kinds));
  verb->callback([kind] {
    for (const auto& [name, print] : kinds)
      if (kind->empty() || *kind == name) print();
  });
}

}  // namespace eps::cli
