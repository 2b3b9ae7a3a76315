// The networks of a server.
#include "eps/serve/networks.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "eps/base/spec.h"
#include "eps/io/file.h"
#include "eps/methods/method.h"
#include "eps/model/bundled.h"

namespace eps::serve {
namespace {

std::string card_of(const std::string& name) {
  try {
    return read_file(find_in_models(name + ".md"));
  } catch (const Error&) {
    return "";
  }
}

NetworkEntry described(const std::string& name,
                       const nets::UNetConfig& config,
                       const NetworkInput& input,
                       const Provenance& provenance) {
  NetworkEntry entry{.name = name, .card = card_of(name), .provenance = provenance};
  entry.shape = {.name = name,
                 .resolution = config.is_local() ? 0 : config.img_resolution,
                 .least = config.divisor(),
                 .channels = config.img_channels};
  entry.input = to_string(input.without(Channel::skip));
  if (input.conditional() && !input.is_bridge()) entry.method = method_served_by(input);
  return entry;
}

// Returns the entry of a checkpoint's file; none of a file without a configuration, such as the
// weights of a metric, or of a broken one.
std::optional<NetworkEntry> entry_of_file(const std::string& name) {
  try {
    const Safetensors file = read_safetensors(find_in_models(name + ".safetensors"));
    const ModelConfig config = parse_model_config(file.metadata.at("config"));
    const auto origin = file.metadata.find("provenance");
    return described(
        name,
        config.network,
        config.input,
        origin == file.metadata.end() ? Provenance{} : parse_provenance(origin->second));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

Networks::Networks(Load load, UsualNetworks usual, int64_t most)
    : load_(std::move(load)),
      usual_{usual.samples, usual.holes.empty() ? usual.samples : usual.holes},
      most_(std::max<int64_t>(most, 1)) {
  const auto names = model_names();
  for (const std::string& name : names)
    if (auto entry = entry_of_file(name)) entries_.push_back(std::move(*entry));
  for (const std::string& file : std::set{usual_.samples, usual_.holes}) {
    if (std::find(names.begin(), names.end(), file) != names.end()) continue;
    const auto network = get(file);
    entries_.insert(
        entries_.begin(),
        described(file, network->network.config(), network->input, network->provenance));
  }
}

const NetworkEntry& Networks::entry(const std::string& name) const {
  std::vector<std::string> names;
  for (const NetworkEntry& entry : entries_) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw UnknownName("model", name, names);
}

std::shared_ptr<const Checkpoint> Networks::get(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      loaded_.begin(), loaded_.end(), [&](const auto& network) { return network.first == name; });
  if (found != loaded_.end()) {
    loaded_.splice(loaded_.begin(), loaded_, found);
    return loaded_.front().second;
  }
  // The oldest makes room before the new one is there.
  while (std::ssize(loaded_) >= most_) loaded_.pop_back();
  loaded_.emplace_front(name, std::make_shared<const Checkpoint>(load_(name)));
  return loaded_.front().second;
}

}  // namespace eps::serve
