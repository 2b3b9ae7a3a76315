// The distribution of an experiment's cells over ranks, and the texts that tell cells apart.
#include "eps/experiment/plan.h"

#include <algorithm>

#include "eps/io/content_hash.h"
#include "eps/io/file.h"
#include "eps/operators/task.h"

namespace eps::experiment {

std::map<std::string, int64_t> share_out(const std::map<std::string, double>& work, int64_t ranks) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [folder, amount] : work) order.emplace_back(-amount, folder);
  std::sort(order.begin(), order.end());
  std::vector<double> load(static_cast<size_t>(ranks), 0);
  std::map<std::string, int64_t> owner;
  for (const auto& [amount, folder] : order) {
    const auto least = std::min_element(load.begin(), load.end());
    owner[folder] = least - load.begin();
    *least -= amount;
  }
  return owner;
}

std::string options_text(const MethodChoice& choice) {
  std::string text = choice.method.name;
  for (const auto& field : choice.method.fields)
    if (choice.options.has(field.name))
      text += " " + field.name + "=" + choice.options.text(field.name);
  return text;
}

std::string files_hash(const std::string& task) {
  std::string hashes;
  const std::string spec = find_task(task).test, mark = "file=";
  for (size_t at = spec.find(mark); at != std::string::npos; at = spec.find(mark, at + 1)) {
    const size_t begin = at + mark.size();
    hashes +=
        content_hash(read_file(spec.substr(begin, spec.find_first_of(",|+ ", begin) - begin)));
  }
  return hashes;
}

}  // namespace eps::experiment
