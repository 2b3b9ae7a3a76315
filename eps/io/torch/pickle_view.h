// Access to the values of a pickle by type and key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eps/io/torch/pickle.h"

namespace eps {

// Every function here accepts null, and treats it as a value of another type.

// Returns the text of a string, or null.
const std::string_view* text_of(PickleRef value);

// Returns the items of a list, tuple or set in the form of any protocol; or null.
const std::vector<PickleRef>* items_of(PickleRef value);

// Returns the entries of a dict or of a class derived from dict (OrderedDict, defaultdict,
// EasyDict) in the form of any protocol; nothing for any other value.
std::optional<PickleEntries> entries_of(PickleRef value);

// Returns the number of entries that a search of entries_of(value) visits, for callers that bound
// their steps.
size_t entry_count(PickleRef value);

// Returns the last value under a string key of a dict, as entries_of() lists it, or null.
PickleRef find(PickleRef dict, std::string_view key);

// Returns the attributes of an object, as a value for entries_of(); or null.
PickleRef attributes_of(PickleRef value);

// Returns the global that an object calls, or null.
const PickleGlobal* callable_of(PickleRef value);

// Returns the argument at an index of an object's call, or null.
PickleRef argument_of(PickleRef value, size_t index);

// Returns the full name, quoted for messages: "torch._utils._rebuild_tensor_v2".
std::string dotted(const PickleGlobal& global);

}  // namespace eps
