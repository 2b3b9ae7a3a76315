// The range of problems that a network was trained for.
#include "eps/restore/training_range.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "eps/restore/operator_choice.h"

namespace eps {
namespace {

constexpr double kMost = 1e6;

// Returns the spec of a task's training, or the task's own text for an unknown task.
std::string trained_spec(const std::string& task) {
  try {
    return find_task(task).train;
  } catch (const Error&) {
    return task;
  }
}

bool same_family(const std::string& wanted, const std::string& trained) {
  return wanted == trained || (wanted == "inpaint_mask" && trained.starts_with("inpaint_")) ||
         (wanted == "blur_kernel" && (trained == "blur_gaussian" || trained == "blur_motion"));
}

bool covers(const Range& trained, const Range& wanted) {
  return trained.low <= wanted.low && wanted.high <= trained.high;
}

void add_new(std::vector<std::string>& all, const std::string& text) {
  if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

// Returns warnings about the strengths of an operator. trained: specs of the same operator.
std::vector<std::string> value_warnings(const std::string& network,
                                        const std::vector<std::string>& trained,
                                        const std::string& spec,
                                        int64_t side) {
  const auto known = operators().find(operator_name(spec));
  if (known == operators().end()) return {};
  const auto& fields = known->second.fields;
  const Spec wanted = Spec::parse(spec).resolve(fields);
  std::vector<std::string> warnings;
  for (const std::string& key : known->second.strengths) {
    const auto value = [&](const Spec& of) {
      return of.range(key, 0, kMost, static_cast<double>(side));
    };
    std::vector<std::string> seen;
    bool covered = false;
    for (const auto& one : trained) {
      const Spec own = Spec::parse(one).resolve(fields);
      covered = covered || covers(value(own), value(wanted));
      add_new(seen, own.text(key));
    }
    const auto in_percent = [](const std::string& text) {
      return text.find('%') != std::string::npos;
    };
    if (!covered)
      warnings.push_back(fmt::format("{} was trained for {} with {}={}{}, not {}",
                                     network,
                                     wanted.name(),
                                     key,
                                     fmt::join(seen, " or "),
                                     std::any_of(seen.begin(), seen.end(), in_percent)
                                         ? fmt::format(" of {} pixels", side)
                                         : "",
                                     wanted.text(key)));
  }
  return warnings;
}

// Returns a warning about the border of a blur. trained: all specs of the network.
std::vector<std::string> border_warnings(const std::string& network,
                                         const std::vector<std::string>& trained,
                                         const std::string& spec) {
  const std::optional<Border> border = border_in(spec);
  if (!border) return {};
  const std::string wanted = to_string(*border);
  std::vector<std::string> seen;
  for (const auto& one : trained)
    if (const auto own = border_in(one)) add_new(seen, to_string(*own));
  if (seen.empty() || std::find(seen.begin(), seen.end(), wanted) != seen.end()) return {};
  return {fmt::format(
      "{} was trained for blurs with border={}, not {}", network, fmt::join(seen, " or "), wanted)};
}

// Returns the largest share of the pixels that an operator of the spec leaves out; 0: it is no
// mask.
double most_missing(const std::string& spec, int64_t side) {
  const auto known = operators().find(operator_name(spec));
  if (known == operators().end()) return 0;
  const Spec own = Spec::parse(spec).resolve(known->second.fields);
  if (own.has("missing")) return own.range("missing").high;
  if (own.name() != "inpaint_box") return 0;
  const auto whole = static_cast<double>(side);
  const auto share = [&](const char* key) { return own.range(key, 0, whole, whole).high / whole; };
  return share("height") * share("width");
}

}  // namespace

Range trained_noise(const Provenance& trained) {
  if (trained.tasks.empty() || trained.sigma_y.empty()) return {0, kMost};
  return Spec::parse("sigma_y:value=" + trained.sigma_y).range("value", 0, kMost);
}

std::vector<std::string> noise_warnings(const std::string& network,
                                        const Provenance& trained,
                                        double sigma_y) {
  const Range range = trained_noise(trained);
  if (sigma_y >= range.low && sigma_y <= range.high) return {};
  return {fmt::format(
      "{} was trained for measurement noise of {}, not {:g}", network, trained.sigma_y, sigma_y)};
}

std::vector<std::string> operator_warnings(const std::string& network,
                                           const Provenance& trained,
                                           const std::string& spec,
                                           int64_t side) {
  const std::string name = operator_name(spec);
  std::vector<std::string> known, same, all;
  bool similar = false;
  for (const auto& task : trained.tasks) {
    const std::string one = trained_spec(task), own = operator_name(one);
    if (own == name) same.push_back(one);
    all.push_back(one);
    similar = similar || same_family(name, own);
    add_new(known, own);
  }
  if (!same.empty() || similar) {
    try {
      std::vector<std::string> warnings = border_warnings(network, all, spec);
      if (!same.empty())
        for (const auto& warning : value_warnings(network, same, spec, side))
          warnings.push_back(warning);
      return warnings;
    } catch (const Error&) {
      return {};  // values that a later version wrote and this one cannot read
    }
  }
  if (known.empty()) return {};
  return {fmt::format("{} was trained for {}, not for {}", network, fmt::join(known, ", "), name)};
}

std::vector<std::string> own_prior_warnings(const std::string& network,
                                            const Provenance& trained,
                                            int64_t side) {
  constexpr double kNearlyAll = 0.95;
  if (trained.tasks.empty()) return {};
  double most = 0;
  try {
    for (const auto& task : trained.tasks)
      most = std::max(most, most_missing(trained_spec(task), side));
  } catch (const Error&) {
    return {};  // values that a later version wrote and this one cannot read
  }
  if (most >= kNearlyAll) return {};
  return {fmt::format(
      "{} was trained with at most {:.0f}% of the pixels missing; as a prior it is asked with all "
      "of them missing",
      network,
      100 * most)};
}

}  // namespace eps
