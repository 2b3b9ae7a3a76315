// Torch modules in a pickle: their attributes and their configuration.
#include "eps/io/torch/torch_module.h"

#include "eps/io/torch/pickle_json.h"
#include "eps/io/torch/pickle_view.h"

namespace eps {
namespace {

// Returns the dict that NVIDIA's torch_utils.persistence keeps of an instance, or null: class_name,
// state, and the source of its module, which is never read.
PickleRef persistent_record(PickleRef value) {
  return is_persistent_object(value) ? argument_of(value, 0) : nullptr;
}

// Returns the global of a class, which torch's older format wraps as ('module', class, file,
// source).
const PickleGlobal* class_global(PickleRef callable) {
  const auto* persistent = callable->as<PicklePersistent>();
  const auto* items = persistent == nullptr ? nullptr : items_of(persistent->id);
  if (items != nullptr && items->size() > 1) return (*items)[1]->as<PickleGlobal>();
  return callable->as<PickleGlobal>();
}

std::string_view class_name(PickleRef module) {
  if (const PickleRef record = persistent_record(module)) {
    const auto* name = text_of(find(record, "class_name"));
    return name == nullptr ? std::string_view() : *name;
  }
  const PickleGlobal* type = class_global(module->as<PickleObject>()->callable);
  return type == nullptr ? std::string_view() : type->name;
}

void add_class_name(SortedJson& config, const char* key, PickleRef module) {
  const std::string_view name = class_name(module);
  if (!name.empty() && is_utf8(name)) config[key] = name;
}

// Returns whether the attribute is the user's: torch's own begin with an underscore, except this
// flag.
bool is_plain_attribute(const std::string& name) { return name[0] != '_' && name != "training"; }

void add_options(SortedJson& config, PickleRef attributes, PickleJson& convert) {
  const PickleRef keywords = find(attributes, "_init_kwargs");
  const PickleRef positional = find(attributes, "_init_args");
  if (keywords != nullptr) config.update(convert.convert(keywords).value_or(SortedJson::object()));
  const SortedJson arguments =
      positional == nullptr ? SortedJson() : convert.convert(positional).value_or(SortedJson());
  if (arguments.is_array() && !arguments.empty()) config["init_args"] = arguments;
  for (const auto& [key, value] : entries_of(attributes).value_or(PickleEntries{})) {
    const auto* name = text_of(key);
    if (name == nullptr || name->empty() || !is_plain_attribute(std::string(*name))) continue;
    if (!is_utf8(*name)) continue;
    if (const auto plain = convert.convert(value)) config[std::string(*name)] = *plain;
  }
}

}  // namespace

bool is_persistent_object(PickleRef value) {
  const PickleGlobal* callable = callable_of(value);
  return callable != nullptr && callable->name == "_reconstruct_persistent_obj";
}

PickleRef object_attributes(PickleRef value) {
  const PickleRef record = persistent_record(value);
  return record == nullptr ? attributes_of(value) : find(record, "state");
}

bool is_module(PickleRef attributes) {
  return find(attributes, "_parameters") != nullptr && find(attributes, "_modules") != nullptr;
}

SortedJson module_config(PickleRef module) {
  PickleJson convert;
  SortedJson config = SortedJson::object();
  const PickleRef attributes = object_attributes(module);
  const PickleRef children = find(attributes, "_modules");
  for (const char* name : {"model", "unet"}) {
    const PickleRef child = find(children, name);
    const PickleRef child_attributes = object_attributes(child);
    if (!is_module(child_attributes)) continue;
    const PickleRef keywords = find(child_attributes, "_init_kwargs");
    if (keywords != nullptr)
      config.update(convert.convert(keywords).value_or(SortedJson::object()));
    add_class_name(config, "model_type", child);
    break;
  }
  add_options(config, attributes, convert);
  add_class_name(config, "class_name", module);
  return config;
}

}  // namespace eps
