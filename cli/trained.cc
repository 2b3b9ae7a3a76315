// What a network was trained for.
#include "cli/trained.h"

#include <iostream>

#include "eps/task.h"

namespace eps::cli {
namespace {

bool same_family(const std::string& asked, const std::string& trained) {
  return asked == trained || (asked == "inpaint_mask" && trained.starts_with("inpaint_")) ||
         (asked == "blur_kernel" && (trained == "blur_gaussian" || trained == "blur_motion"));
}

void warn_unless(const std::function<bool(const Task& task)>& seen,
                 const std::string& model,
                 const Provenance& trained,
                 const std::string& asked) {
  std::string known;
  for (const auto& task : trained.tasks) {
    if (seen(find_task(task))) return;
    known += (known.empty() ? "" : ", ") + task;
  }
  if (!known.empty())
    std::cerr << "eps: warning: " << model << " was trained for " << known << ", not for " << asked
              << '\n';
}

}  // namespace

Range trained_noise(const Provenance& trained) {
  constexpr double kMost = 1e6;
  if (trained.tasks.empty() || trained.sigma_y.empty()) return {0, kMost};
  return Spec::parse("sigma_y:value=" + trained.sigma_y).range("value", 0, kMost);
}

void warn_of_new_noise(const std::string& model, const Provenance& trained, double sigma_y) {
  const Range range = trained_noise(trained);
  if (sigma_y < range.low || sigma_y > range.high)
    std::cerr << "eps: warning: " << model << " was trained for measurement noise of "
              << trained.sigma_y << ", not " << sigma_y << '\n';
}

void warn_of_new_task(const std::string& model,
                      const Provenance& trained,
                      const std::string& task) {
  const std::string asked = find_task(task).test;
  warn_unless([&](const Task& known) { return asked == known.test || asked == known.train; },
              model,
              trained,
              task);
}

void warn_of_new_operator(const std::string& model,
                          const Provenance& trained,
                          const std::string& name) {
  warn_unless([&](const Task& known) { return same_family(name, Spec::parse(known.train).name()); },
              model,
              trained,
              name);
}

}  // namespace eps::cli
