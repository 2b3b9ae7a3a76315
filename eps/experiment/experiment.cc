// Experiments: their JSON, and the cells they are made of.
#include "eps/experiment/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "eps/base/json_fields.h"
#include "eps/experiment/experiment_json.h"
#include "eps/methods/method.h"
#include "eps/operators/task.h"
#include "eps/priors/exact_data.h"

namespace eps::experiment {
namespace {

constexpr int64_t kMost = 1000000;  // of images, samples and steps

void check_entry(const MethodEntry& c, const Experiment& e, const std::string& where) {
  check(c.score == "samples" || c.score == "mean",
        where,
        ": score must be samples or mean, got ",
        c.score);
  for (const auto& task : c.tasks)
    check(std::find(e.tasks.begin(), e.tasks.end(), task) != e.tasks.end(),
          where,
          ": the task ",
          task,
          " is not one of the experiment's");
  check(!c.label.empty(), where, ": the label is empty");
  for (const int64_t steps : c.steps)
    check(steps >= 1 && steps <= kMost, where, ": steps are 1 to ", kMost, ", got ", steps);
  try {
    choose_method(c.method);
    for (const int64_t steps : c.steps) choose_method(c.method, "", steps);
  } catch (const Error& error) {
    fail(where, ": ", error.what());
  }
}

void validate(const Experiment& e, const std::string& source) {
  check(!e.tasks.empty() && !e.methods.empty() && !e.metrics.empty(),
        source,
        ": an experiment has tasks, methods and metrics");
  const auto counts = [&](const char* name, int64_t value, int64_t least, int64_t most) {
    check(value >= least && value <= most,
          source,
          ": ",
          name,
          " must be ",
          least,
          " to ",
          most,
          ", got ",
          value);
  };
  counts("images", e.images, 1, kMost);
  counts("samples", e.samples, 1, kMost);
  counts("batch", e.batch, 0, kMost);
  counts("sheet_images", e.sheet_images, 1, kMostSheetImages);
  check(e.sigma_y >= 0, source, ": sigma_y must be at least 0, got ", e.sigma_y);
  check(e.sheet == "methods" || e.sheet == "samples" || e.sheet == "none",
        source,
        ": sheet must be methods, samples or none, got ",
        e.sheet);
  try {
    for (const auto& task : e.tasks) parse_operator(find_task(task).test);
    for (const auto& name : e.metrics) find_metric(name);
    for (const auto& plot : e.plots) check_plot(plot);
  } catch (const Error& error) {
    fail(source, ": ", error.what());
  }
}

// Returns a name for a folder: lower case, with a dash for all but letters and digits.
std::string slug(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '_') {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.substr(0, 60);
}

std::string with_task(const std::string& text, const std::string& task) {
  const std::string mark = "{task}";
  const size_t at = text.find(mark);
  if (at == std::string::npos) return text;
  return text.substr(0, at) + task + text.substr(at + mark.size());
}

}  // namespace

bool is_exact(const Experiment& experiment) {
  return !experiment.data.empty() && is_exact_data(experiment.data);
}

Experiment parse_experiment(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  Experiment e;
  JsonFields reader(json, source);
  reader.required("title", e.title);
  reader.optional("about", e.about);
  reader.optional("data", e.data);
  reader.optional("images", e.images);
  reader.optional("samples", e.samples);
  reader.optional("sigma_y", e.sigma_y);
  reader.optional("seed", e.seed);
  reader.optional("batch", e.batch);
  reader.required("tasks", e.tasks);
  reader.required("metrics", e.metrics);
  reader.optional("sheet", e.sheet);
  reader.optional("sheet_images", e.sheet_images);
  for (JsonFields& entry : reader.list("methods")) {
    MethodEntry c;
    entry.required("label", c.label);
    entry.required("method", c.method);
    entry.optional("model", c.model);
    entry.optional("steps", c.steps);
    entry.optional("tasks", c.tasks);
    entry.optional("score", c.score);
    entry.finish();
    check_entry(c, e, entry.where());
    e.methods.push_back(c);
  }
  for (JsonFields& entry : reader.list("plots")) {
    report::Plot plot;
    entry.required("x", plot.x);
    entry.required("y", plot.y);
    entry.finish();
    e.plots.push_back(plot);
  }
  reader.finish();
  validate(e, source);
  return e;
}

Json experiment_json(const Experiment& e) {
  Json methods = Json::array(), plots = Json::array();
  for (const MethodEntry& c : e.methods) {
    Json entry = {{"label", c.label}, {"method", c.method}};
    if (!c.model.empty()) entry["model"] = c.model;
    if (!c.steps.empty()) entry["steps"] = c.steps;
    if (!c.tasks.empty()) entry["tasks"] = c.tasks;
    if (c.score != "samples") entry["score"] = c.score;
    methods.push_back(entry);
  }
  for (const report::Plot& plot : e.plots) plots.push_back({{"x", plot.x}, {"y", plot.y}});
  return {{"title", e.title},
          {"about", e.about},
          {"data", e.data},
          {"images", e.images},
          {"samples", e.samples},
          {"sigma_y", e.sigma_y},
          {"seed", e.seed},
          {"batch", e.batch},
          {"tasks", e.tasks},
          {"methods", methods},
          {"metrics", e.metrics},
          {"plots", plots},
          {"sheet", e.sheet},
          {"sheet_images", e.sheet_images}};
}

std::string to_json(const Experiment& e) { return json_text(experiment_json(e), 2) + "\n"; }

std::vector<Cell> cells_of(const Experiment& e,
                           const std::map<std::string, std::vector<std::string>>& models) {
  std::vector<Cell> cells;
  for (const auto& task : e.tasks)
    for (const MethodEntry& c : e.methods) {
      if (!c.tasks.empty() && std::find(c.tasks.begin(), c.tasks.end(), task) == c.tasks.end())
        continue;
      const std::string own = to_string(choose_method(c.method).method.input);
      const std::string model = is_exact(e) ? "" : c.model.empty() ? own : with_task(c.model, task);
      const auto found = models.find(model);
      const auto files = found == models.end() ? std::vector<std::string>{""} : found->second;
      for (const auto& file : files)
        for (const int64_t steps : c.steps.empty() ? std::vector<int64_t>{0} : c.steps) {
          const MethodChoice choice = choose_method(c.method, task, steps);
          const std::string suffix = steps ? fmt::format("-{}", steps) : "";
          cells.push_back({.task = task,
                           .label = c.label,
                           .method = c.method,
                           .steps = steps,
                           .model = model,
                           .model_file = file,
                           .of_mean = c.score == "mean",
                           .folder = slug(fmt::format("{}-{}{}", task, choice.method.name, suffix)),
                           .choice = choice});
        }
    }
  return cells;
}

}  // namespace eps::experiment
