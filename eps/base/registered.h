// Registries of named entries that are filled before main().
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `Registered` holds entries with a field `name`. Of two entries with the same name the first is
// kept, and any use of the registry then throws an Error: an exception in a static initialiser
// would end the program without a message.
template <class Entry>
class Registered {
 public:
  explicit Registered(const char* what) : what_(what) {}

  bool add(const Entry& entry) {
    const bool is_new = entries_.emplace(entry.name, entry).second;
    if (!is_new && clash_.empty()) clash_ = entry.name;
    return is_new;
  }
  const std::map<std::string, Entry>& all() const {
    check(clash_.empty(), what_, " \"", clash_, "\" is registered twice");
    return entries_;
  }

 private:
  const char* const what_;  // kind of the entries: "operator"
  std::map<std::string, Entry> entries_;
  std::string clash_;  // the first name that occurred twice
};

template <class Entry>
std::vector<std::string> names_of(const std::map<std::string, Entry>& entries) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) names.push_back(name);
  return names;
}

}  // namespace eps
