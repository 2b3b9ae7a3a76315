// The networks of a server: which there are, and the few that stay loaded.
#pragma once

#include <list>
#include <mutex>

#include "eps/model/checkpoint.h"
#include "eps/restore/measurement.h"

namespace eps::serve {

// A `NetworkEntry` describes a network without its weights.
struct NetworkEntry {
  std::string name = {};
  std::string card = {};  // Markdown; "" where there is none
  NetworkShape shape = {};
  Provenance provenance = {};
  std::string input = {};   // eps/diffusion/network_input.h
  std::string method = {};  // that it was trained for; "" for a prior or a bridge
};

// `UsualNetworks` are those that serve where none is named: names, or files.
struct UsualNetworks {
  std::string samples = {};
  std::string holes = {};  // of masks, and for one evaluation; empty: the same
};

class Networks {
 public:
  // Loads a network, on the device where it is to be evaluated.
  using Load = std::function<Checkpoint(const std::string& name)>;

  // Reads the configurations of the networks that come with eps, and of the usual ones where they
  // are files. At most `most` stay loaded.
  Networks(Load load, UsualNetworks usual, int64_t most);

  const std::vector<NetworkEntry>& entries() const { return entries_; }
  const UsualNetworks& usual() const { return usual_; }
  const NetworkEntry& entry(const std::string& name) const;  // an Error if there is none

  std::shared_ptr<const Checkpoint> get(const std::string& name);

 private:
  const Load load_;
  const UsualNetworks usual_;
  const int64_t most_;
  std::vector<NetworkEntry> entries_;
  std::mutex mutex_;
  // The one used last is the first.
  std::list<std::pair<std::string, std::shared_ptr<const Checkpoint>>> loaded_;
};

}  // namespace eps::serve
