// Access to the values of a pickle by type and key.
#include "eps/io/torch/pickle_view.h"

#include <fmt/format.h>

#include "eps/base/printable.h"

namespace eps {
namespace {

// Returns whether the global is a builtin of this name. Protocols 0 and 1, and Python 2, write
// set(...) and OrderedDict(...) as calls with a list.
bool is_builtin(const PickleGlobal& global, std::string_view name) {
  return (global.module == "builtins" || global.module == "__builtin__") && global.name == name;
}

bool makes_set(const PickleGlobal& global) {
  return is_builtin(global, "set") || is_builtin(global, "frozenset");
}

bool makes_dict(const PickleGlobal& global) {
  return global.module == "collections" &&
         (global.name == "OrderedDict" || global.name == "defaultdict");
}

// Appends the pairs of a list of two-item lists or tuples.
void append_pairs(PickleRef value, PickleEntries& entries) {
  const auto* pairs = items_of(value);
  if (pairs == nullptr) return;
  for (PickleRef pair : *pairs) {
    const auto* items = items_of(pair);
    if (items != nullptr && items->size() == 2) entries.emplace_back((*items)[0], (*items)[1]);
  }
}

}  // namespace

const std::string_view* text_of(PickleRef value) {
  const auto* string = value == nullptr ? nullptr : value->as<PickleString>();
  return string == nullptr ? nullptr : &string->text;
}

const std::vector<PickleRef>* items_of(PickleRef value) {
  if (value == nullptr) return nullptr;
  if (const auto* list = value->as<PickleList>()) return &list->items;
  if (const auto* tuple = value->as<PickleTuple>()) return &tuple->items;
  if (const auto* set = value->as<PickleSet>()) return &set->items;
  const PickleGlobal* callable = callable_of(value);
  const PickleRef argument = argument_of(value, 0);
  if (callable == nullptr || argument == nullptr || !makes_set(*callable)) return nullptr;
  const auto* list = argument->as<PickleList>();
  return list == nullptr ? nullptr : &list->items;
}

std::optional<PickleEntries> entries_of(PickleRef value) {
  if (value == nullptr) return std::nullopt;
  if (const auto* dict = value->as<PickleDict>()) return dict->entries;
  const auto* object = value->as<PickleObject>();
  const PickleGlobal* callable = callable_of(value);
  if (object == nullptr || callable == nullptr) return std::nullopt;
  if (object->entries == nullptr && !makes_dict(*callable)) return std::nullopt;
  PickleEntries entries;
  if (makes_dict(*callable)) append_pairs(argument_of(value, 0), entries);
  if (object->entries != nullptr) {
    const auto& set = object->entries->as<PickleDict>()->entries;
    entries.insert(entries.end(), set.begin(), set.end());
  }
  return entries;
}

size_t entry_count(PickleRef value) {
  if (value == nullptr) return 0;
  if (const auto* dict = value->as<PickleDict>()) return dict->entries.size();
  const auto* object = value->as<PickleObject>();
  if (object == nullptr) return 0;
  const auto* pairs = items_of(argument_of(value, 0));
  return (pairs == nullptr ? 0 : pairs->size()) + entry_count(object->entries);
}

PickleRef find(PickleRef dict, std::string_view key) {
  PickleRef found = nullptr;
  for (const auto& [name, value] : entries_of(dict).value_or(PickleEntries{})) {
    const std::string_view* text = text_of(name);
    if (text != nullptr && *text == key) found = value;
  }
  return found;
}

PickleRef attributes_of(PickleRef value) {
  const auto* object = value == nullptr ? nullptr : value->as<PickleObject>();
  if (object == nullptr || object->state == nullptr) return nullptr;
  // A class with __slots__ has a pair: its __dict__ and its slots.
  const auto* pair = object->state->as<PickleTuple>();
  if (pair != nullptr && pair->items.size() == 2) return pair->items[0];
  return object->state;
}

const PickleGlobal* callable_of(PickleRef value) {
  const auto* object = value == nullptr ? nullptr : value->as<PickleObject>();
  return object == nullptr ? nullptr : object->callable->as<PickleGlobal>();
}

PickleRef argument_of(PickleRef value, size_t index) {
  const auto* object = value == nullptr ? nullptr : value->as<PickleObject>();
  if (object == nullptr || object->args == nullptr) return nullptr;
  const auto* tuple = object->args->as<PickleTuple>();
  return tuple == nullptr || index >= tuple->items.size() ? nullptr : tuple->items[index];
}

std::string dotted(const PickleGlobal& global) {
  return fmt::format("'{}.{}'", printable(global.module), printable(global.name));
}

}  // namespace eps
