// eps list: everything registered, by name.
#include <fmt/format.h>

#include "cli/verbs.h"
#include "eps/dataset.h"
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
  fmt::print("datasets (a folder of images, an EDM archive .zip, or synthetic:key=value,...)\n");
  fmt::print("  {:<20} shapes and textures, drawn on the spot\n", "synthetic");
  print_fields(synthetic_fields());
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
                                                          {"operators", list_operators},
                                                          {"tasks", list_tasks},
                                                          {"schedules", list_schedules},
                                                          {"solvers", list_solvers}};
  auto* verb = app.add_subcommand("list", "Everything registered, by name");
  verb->add_option(
          "KIND", *kind, "datasets, operators, tasks, schedules or solvers; all without it")
      ->check(CLI::IsMember(&kinds));
  verb->callback([kind] {
    for (const auto& [name, print] : kinds)
      if (kind->empty() || *kind == name) print();
  });
}

}  // namespace eps::cli
