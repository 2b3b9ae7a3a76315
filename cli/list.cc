// eps list: everything registered, by name.
#include <fmt/format.h>

#include "cli/verbs.h"
#include "eps/dataset.h"
#include "eps/exact_data.h"
#include "eps/method.h"
#include "eps/metric.h"
#include "eps/sampler.h"
#include "eps/task.h"

namespace eps::cli {
namespace {

void print_fields(const std::vector<Field>& fields) {
  for (const auto& field : fields) {
    fmt::print("    {:<18} {}{}\n",
               field.name,
               field.help,
               field.value.empty() ? "" : " [" + field.value + "]");
  }
}

void list_datasets() {
  fmt::print("datasets (a folder of images, an EDM archive .zip, or name:key=value,...)\n");
  fmt::print("  {:<20} shapes and textures, drawn on the spot\n", "synthetic");
  print_fields(synthetic_fields());
  fmt::print("  {:<20} drawn from a prior that is known, for eps bench\n", "exact");
  print_fields(exact_data_fields());
}

// "1 evaluation, 2.5 VJPs": what a sample costs by default, in so many parts.
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

// By its steps, where it has any.
std::string cost_of(const Method& method) {
  const Spec options = choose_method(method.name).options;
  if (!options.has("steps")) return "a sample: " + cost_of(method, 1);
  return "a step: " + cost_of(method, static_cast<double>(options.integer("steps", 1, 1000000)));
}

void list_methods() {
  fmt::print("methods (name:key=value,...; a task may have values of its own)\n");
  for (const auto& [name, method] : methods()) {
    fmt::print("  {:<20} {}\n", name, method.summary);
    fmt::print(
        "  {:<20} network for the input {}; {}\n", "", to_string(method.input), cost_of(method));
    print_fields(method.fields);
    for (const auto& [task, values] : method.tasks) fmt::print("    {:<22} {}\n", task, values);
  }
}

void list_metrics() {
  fmt::print("metrics (eps metrics, eps bench)\n");
  for (const auto& metric : metrics()) fmt::print("  {:<28} {}\n", metric.name, metric.help);
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
                                                          {"operators", list_operators},
                                                          {"tasks", list_tasks},
                                                          {"schedules", list_schedules},
                                                          {"solvers", list_solvers}};
  auto* verb = app.add_subcommand("list", "Everything registered, by name");
  verb->add_option(
          "KIND",
          *kind,
          "datasets, methods, metrics, operators, tasks, schedules or solvers; all without it")
      ->check(CLI::IsMember(&kinds));
  verb->callback([kind] {
    for (const auto& [name, print] : kinds)
      if (kind->empty() || *kind == name) print();
  });
}

}  // namespace eps::cli
