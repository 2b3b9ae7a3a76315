// Questions asked of the values of a pickle by those who know what they look for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eps/io/torch/pickle.h"

namespace eps {

// All accept null, which is like nothing they know.

// The text of a string, or null.
const std::string_view* text_of(PickleRef value);

// The items of a list, tuple or set, however the protocol wrote it; or null.
const std::vector<PickleRef>* items_of(PickleRef value);

// The entries of a dict or of something derived from dict (OrderedDict, defaultdict, EasyDict),
// however the protocol wrote it; nothing for any other value.
std::optional<PickleEntries> entries_of(PickleRef value);

// How many entries a search of entries_of(value) looks at, for those who bound their steps.
size_t entry_count(PickleRef value);

// The value under a string key of a dict as entries_of() sees it: the last one, or null.
PickleRef find(PickleRef dict, std::string_view key);

// The attributes of an object, as a value for entries_of(); or null.
PickleRef attributes_of(PickleRef value);

// The global that an object calls, or null.
const PickleGlobal* callable_of(PickleRef value);

// The argument at an index of an object's call, or null.
PickleRef argument_of(PickleRef value, size_t index);

// "torch._utils._rebuild_tensor_v2", quoted for messages.
std::string dotted(const PickleGlobal& global);

}  // namespace eps
