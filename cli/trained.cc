// What a network was trained for.
#include "cli/trained.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "eps/task.h"

namespace eps::cli {
namespace {

// The operator's name in a task or a spec; a composition, and what this version does not know, as
// they are.
std::string operator_of(const std::string& task) {
  const auto known = tasks().find(task);
  const std::string spec = known == tasks().end() ? task : known->second.train;
  if (spec.starts_with("random_inpainting_")) return "inpaint_random";
  return is_composed(spec) ? spec : spec.substr(0, spec.find(':'));
}

bool same_family(const std::string& asked, const std::string& trained) {
  return asked == trained || (asked == "inpaint_mask" && trained.starts_with("inpaint_")) ||
         (asked == "blur_kernel" && (trained == "blur_gaussian" || trained == "blur_motion"));
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

void warn_of_new_operator(const std::string& model,
                          const Provenance& trained,
                          const std::string& spec) {
  const std::string name = operator_of(spec);
  std::vector<std::string> known;
  for (const auto& task : trained.tasks) {
    const std::string one = operator_of(task);
    if (same_family(name, one)) return;
    if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
  }
  if (!known.empty())
    std::cerr << fmt::format(
        "eps: warning: {} was trained for {}, not for {}\n", model, fmt::join(known, ", "), name);
}

}  // namespace eps::cli
