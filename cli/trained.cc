// What a network was trained for.
#include "cli/trained.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "eps/operators/task.h"

namespace eps::cli {
namespace {

constexpr double kMost = 1e6;

// What a task was trained on; what this version does not know, as it is.
std::string trained_spec(const std::string& task) {
  try {
    return find_task(task).train;
  } catch (const Error&) {
    return task;
  }
}

// The operator's name in a spec; a composition as it is.
std::string operator_of(const std::string& spec) {
  return is_composed(spec) ? spec : spec.substr(0, spec.find(':'));
}

bool same_family(const std::string& asked, const std::string& trained) {
  return asked == trained || (asked == "inpaint_mask" && trained.starts_with("inpaint_")) ||
         (asked == "blur_kernel" && (trained == "blur_gaussian" || trained == "blur_motion"));
}

bool covers(const Range& trained, const Range& asked) {
  return trained.low <= asked.low && asked.high <= trained.high;
}

// trained: specs of the same operator.
void warn_of_new_values(const std::string& model,
                        const std::vector<std::string>& trained,
                        const std::string& spec,
                        int64_t side) {
  const auto known = operators().find(operator_of(spec));
  if (known == operators().end()) return;
  const auto& fields = known->second.fields;
  const Spec asked = Spec::parse(spec).resolve(fields);
  for (const std::string& key : known->second.strengths) {
    const auto value = [&](const Spec& of) {
      return of.range(key, 0, kMost, static_cast<double>(side));
    };
    std::vector<std::string> seen;
    bool covered = false;
    for (const auto& one : trained) {
      const Spec own = Spec::parse(one).resolve(fields);
      covered = covered || covers(value(own), value(asked));
      if (std::find(seen.begin(), seen.end(), own.text(key)) == seen.end())
        seen.push_back(own.text(key));
    }
    if (!covered)
      std::cerr << fmt::format("eps: warning: {} was trained for {} with {}={}, not {}\n",
                               model,
                               asked.name(),
                               key,
                               fmt::join(seen, " or "),
                               asked.text(key));
  }
}

}  // namespace

Range trained_noise(const Provenance& trained) {
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
                          const std::string& spec,
                          int64_t side) {
  const std::string name = operator_of(spec);
  std::vector<std::string> known, same;
  bool similar = false;
  for (const auto& task : trained.tasks) {
    const std::string one = trained_spec(task), own = operator_of(one);
    if (own == name) same.push_back(one);
    similar = similar || same_family(name, own);
    if (std::find(known.begin(), known.end(), own) == known.end()) known.push_back(own);
  }
  if (!same.empty()) {
    try {
      warn_of_new_values(model, same, spec, side);
    } catch (const Error&) {
      // Values that a later version wrote and this one cannot read.
    }
  } else if (!similar && !known.empty()) {
    std::cerr << fmt::format(
        "eps: warning: {} was trained for {}, not for {}\n", model, fmt::join(known, ", "), name);
  }
}

}  // namespace eps::cli
