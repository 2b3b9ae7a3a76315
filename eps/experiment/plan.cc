// The plan of an experiment.
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
  for (const std::string& file : files_of(find_task(task).test))
    hashes += content_hash(read_file(file));
  return hashes;
}

}  // namespace eps::experiment
