// Names of network inputs, and which network serves which method.
#include "eps/diffusion/network_input.h"

#include <algorithm>

#include "eps/base/spec.h"

namespace eps {
namespace {

const std::vector<std::pair<std::string, Geometry>> kGeometries = {{"state", Geometry::state},
                                                                   {"pivot", Geometry::pivot},
                                                                   {"indi", Geometry::indi},
                                                                   {"i2sb", Geometry::i2sb}};
const std::vector<std::pair<std::string, Channel>> kChannels = {{"y", Channel::y},
                                                                {"deviation", Channel::deviation},
                                                                {"precision", Channel::precision},
                                                                {"skip", Channel::skip}};

template <class Value>
std::string name_in(const std::vector<std::pair<std::string, Value>>& table, Value value) {
  for (const auto& [name, known] : table)
    if (known == value) return name;
  fail("NetworkInput: no name for ", static_cast<int>(value));
}

template <class Value>
const Value* find_in(const std::vector<std::pair<std::string, Value>>& table,
                     const std::string& name) {
  for (const auto& [known, value] : table)
    if (known == name) return &value;
  return nullptr;
}

template <class Value>
std::vector<std::string> names_in(const std::vector<std::pair<std::string, Value>>& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table) names.push_back(name);
  return names;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::vector<std::string> presets = names_in(input_presets());
  std::vector<std::string> channels = names_in(kChannels);
  for (std::string& channel : channels) channel = "+" + channel;
  fail("unknown input \"",
       name,
       "\"",
       suggestion(name, presets),
       "; wanted ",
       alternatives(presets),
       ", or ",
       alternatives(names_in(kGeometries)),
       " followed by ",
       alternatives(channels));
}

NetworkInput parse_base(const std::string& base, const std::string& name) {
  if (const NetworkInput* preset = find_in(input_presets(), base)) return *preset;
  if (const Geometry* geometry = find_in(kGeometries, base)) return {*geometry};
  fail_unknown(name);
}

}  // namespace

bool NetworkInput::has(Channel channel) const {
  return std::find(side.begin(), side.end(), channel) != side.end();
}

NetworkInput NetworkInput::with(Channel channel) const {
  NetworkInput wider = *this;
  if (!has(channel)) wider.side.push_back(channel);
  return wider;
}

NetworkInput NetworkInput::without(Channel channel) const {
  NetworkInput narrower = *this;
  std::erase(narrower.side, channel);
  return narrower;
}

const std::vector<std::pair<std::string, NetworkInput>>& input_presets() {
  static const std::vector<std::pair<std::string, NetworkInput>> table = {
      {"prior", NetworkInput::prior},
      {"palette", NetworkInput::palette},
      {"eps", NetworkInput::eps},
      {"eps_precision", NetworkInput::eps_precision},
      {"pivot", NetworkInput::pivot},
      {"pivot_sigma", NetworkInput::pivot_sigma},
      {"indi", NetworkInput::indi},
      {"i2sb", NetworkInput::i2sb}};
  return table;
}

std::string to_string(const NetworkInput& input) {
  for (const auto& [name, preset] : input_presets())
    if (preset.geometry == input.geometry && preset.side == input.side) return name;
  std::string name = name_in(kGeometries, input.geometry);
  for (const Channel channel : input.side) name += "+" + name_in(kChannels, channel);
  return name;
}

NetworkInput parse_input(const std::string& name) {
  size_t end = std::min(name.find('+'), name.size());
  NetworkInput input = parse_base(name.substr(0, end), name);
  while (end < name.size()) {
    const size_t begin = end + 1;
    end = std::min(name.find('+', begin), name.size());
    const std::string word = name.substr(begin, end - begin);
    const Channel* channel = find_in(kChannels, word);
    if (!channel) fail_unknown(name);
    check(!input.has(*channel), "input \"", name, "\": the channel ", word, " is given twice");
    input.side.push_back(*channel);
  }
  return input;
}

bool serves(const NetworkInput& network, const NetworkInput& method) {
  const NetworkInput own = network.without(Channel::skip), wanted = method.without(Channel::skip);
  if (own.geometry == Geometry::pivot && wanted == NetworkInput::prior) return !own.side.empty();
  if (own.geometry != wanted.geometry || own.side.empty() != wanted.side.empty()) return false;
  return std::all_of(
      wanted.side.begin(), wanted.side.end(), [&](Channel channel) { return own.has(channel); });
}

}  // namespace eps
