// Collection of the tensors of modules, state dicts and other containers under their full names.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "eps/base/printable.h"
#include "eps/io/torch/pickle_json.h"
#include "eps/io/torch/pickle_view.h"
#include "eps/io/torch/torch_module.h"
#include "eps/io/torch/torch_tensor.h"

namespace eps {
namespace {

std::optional<std::string> key_text(PickleRef key) {
  if (const auto* text = text_of(key)) return std::string(text->substr(0, kMaxTensorName + 1));
  if (const auto* number = key->as<int64_t>()) return std::to_string(*number);
  return std::nullopt;
}

bool holds_values(PickleRef value) {
  return value->as<PickleObject>() != nullptr || value->as<PickleDict>() != nullptr ||
         value->as<PickleList>() != nullptr || value->as<PickleTuple>() != nullptr;
}

// Returns the joined name, cut off where add() recognises it as too long.
std::string joined(const std::string& name, const std::string& key) {
  return (name.empty() ? key : name + "." + key).substr(0, kMaxTensorName + 1);
}

class Collector {
 public:
  Collector(TorchStorages& storages, uint64_t file_size, const std::string& file)
      : storages_(storages),
        bytes_left_(kAlwaysAllowedBytes + kMaxExpansion * file_size),
        file_(file) {}

  void visit(PickleRef value, const std::string& name);
  std::map<std::string, Tensor> take() { return std::move(tensors_); }

 private:
  void visit_object(PickleRef object, const std::string& name);
  void visit_module(PickleRef attributes, const std::string& name);
  void visit_entries(const PickleEntries& entries, const std::string& name);
  void visit_items(const std::vector<PickleRef>& items, const std::string& name);
  void add(PickleRef record, const std::string& name);
  bool may_hold_tensors(PickleRef value) const;
  void spend_steps(size_t steps);

  TorchStorages& storages_;
  uint64_t bytes_left_;
  const std::string& file_;
  std::map<std::string, Tensor> tensors_;
  std::vector<PickleRef> path_;           // containers being visited, outermost first
  std::unordered_set<PickleRef> barren_;  // visited, without a tensor
  size_t steps_ = 0;
};

void Collector::spend_steps(size_t steps) {
  steps_ += steps;
  check(steps_ <= kMaxTorchSteps, file_, ": takes more than ", kMaxTorchSteps, " steps to walk");
}

bool Collector::may_hold_tensors(PickleRef value) const {
  return holds_values(value) && !barren_.contains(value);
}

void Collector::visit(PickleRef value, const std::string& name) {
  // A container inside itself adds nothing new.
  if (std::find(path_.begin(), path_.end(), value) != path_.end()) return;
  if (path_.size() >= kMaxPickleDepth) {
    fail(file_, ": ", quote(name), " is nested deeper than ", kMaxPickleDepth);
  }
  const size_t found = tensors_.size();
  path_.push_back(value);
  if (is_tensor_record(value)) {
    add(value, name.empty() ? "tensor" : name);
  } else if (const auto entries = entries_of(value)) {
    visit_entries(*entries, name);
  } else if (const auto* items = items_of(value)) {
    visit_items(*items, name);
  } else {
    visit_object(value, name);
  }
  path_.pop_back();
  if (tensors_.size() == found) barren_.insert(value);
}

void Collector::visit_object(PickleRef object, const std::string& name) {
  spend_steps(entry_count(argument_of(object, 0)));
  const PickleRef attributes = object_attributes(object);
  spend_steps(entry_count(attributes));
  if (is_module(attributes)) {
    visit_module(attributes, name);
  } else {
    visit_entries(entries_of(attributes).value_or(PickleEntries{}), name);
  }
}

void Collector::visit_entries(const PickleEntries& entries, const std::string& name) {
  spend_steps(entries.size());
  for (const auto& [key, value] : entries) {
    if (!may_hold_tensors(value)) continue;
    const auto text = key_text(key);
    if (text) visit(value, joined(name, *text));
  }
}

void Collector::visit_items(const std::vector<PickleRef>& items, const std::string& name) {
  spend_steps(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (may_hold_tensors(items[i])) visit(items[i], joined(name, std::to_string(i)));
  }
}

void Collector::visit_module(PickleRef attributes, const std::string& name) {
  // Buffers marked as not persistent are left out, as in state_dict().
  std::set<std::string_view> transient;
  const auto* marked = items_of(find(attributes, "_non_persistent_buffers_set"));
  for (const PickleRef item : marked == nullptr ? std::vector<PickleRef>{} : *marked) {
    if (const auto* text = text_of(item)) transient.insert(*text);
  }
  spend_steps(transient.size());
  visit_entries(entries_of(find(attributes, "_parameters")).value_or(PickleEntries{}), name);
  PickleEntries buffers = entries_of(find(attributes, "_buffers")).value_or(PickleEntries{});
  std::erase_if(buffers, [&transient](const auto& entry) {
    const auto* text = text_of(entry.first);
    return text != nullptr && transient.contains(*text);
  });
  visit_entries(buffers, name);
  visit_entries(entries_of(find(attributes, "_modules")).value_or(PickleEntries{}), name);
}

void Collector::add(PickleRef record, const std::string& name) {
  const std::string label = file_ + ": tensor " + quote(name);
  check(name.size() <= kMaxTensorName,
        label,
        ": its name is longer than ",
        kMaxTensorName,
        " characters");
  check(is_utf8(name), label, ": its name is not UTF-8");
  Tensor tensor = rebuild_tensor(record, storages_, label);
  // Views of one storage, and views that repeat elements, take almost no bytes in the file.
  const auto elements = static_cast<uint64_t>(tensor.numel());
  check(elements <= bytes_left_ / tensor.element_size() && kLeastTensorBytes <= bytes_left_,
        label,
        ": with its ",
        elements,
        " elements, tensors hold over ",
        kMaxExpansion,
        " times the bytes of the file");
  bytes_left_ -= std::max(elements * tensor.element_size(), kLeastTensorBytes);
  check(tensors_.emplace(name, std::move(tensor)).second, label, ": appears twice");
}

}  // namespace

std::map<std::string, Tensor> collect_tensors(PickleRef root,
                                              TorchStorages& storages,
                                              uint64_t file_size,
                                              const std::string& file) {
  Collector collector(storages, file_size, file);
  collector.visit(root, "");
  return collector.take();
}

}  // namespace eps
