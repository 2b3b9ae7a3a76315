// The stack machine that reads pickles: its stack, memo, containers and records of calls.
#include "eps/io/torch/pickle.h"

#include <fmt/format.h>

#include "eps/io/torch/pickle_machine.h"

namespace eps {

PickleMachine::PickleMachine(std::string_view bytes, const std::string& name)
    : name_(name),
      input_(bytes, name),
      none_(make(PickleValue{})),
      false_(make(PickleValue{false})),
      true_(make(PickleValue{true})) {}

Pickle PickleMachine::run() {
  constexpr unsigned char kStop = '.';
  while (true) {
    instruction_at_ = input_.position();
    const auto instruction = input_.little_endian<uint8_t>();
    if (instruction == kStop) break;
    execute(instruction);
  }
  pickle_.root = pop();
  pickle_.size = input_.position();
  return std::move(pickle_);
}

void PickleMachine::execute(unsigned char instruction) {
  const bool known = run_constant(instruction) || run_number(instruction) ||
                     run_text(instruction) || run_bytes(instruction) || run_stack(instruction) ||
                     run_sequence(instruction) || run_mapping(instruction) ||
                     run_class(instruction) || run_object(instruction) || run_memo(instruction) ||
                     run_framing(instruction);
  if (!known) require(false, "unknown instruction ", fmt::format("0x{:02x}", instruction));
}

PickleValue* PickleMachine::make(PickleValue value) {
  require(pickle_.values.size() < kMaxPickleValues, "more than ", kMaxPickleValues, " values");
  return &pickle_.values.emplace_back(std::move(value));
}

void PickleMachine::push(PickleValue* value) {
  require(stack_.size() < kMaxPickleStack, "more than ", kMaxPickleStack, " values on the stack");
  stack_.push_back(value);
}

PickleValue* PickleMachine::top() const {
  require(stack_.size() > (marks_.empty() ? 0 : marks_.back()), "the stack is empty");
  return stack_.back();
}

PickleValue* PickleMachine::pop() {
  PickleValue* value = top();
  stack_.pop_back();
  return value;
}

std::vector<PickleRef> PickleMachine::pop_to_mark() {
  require(!marks_.empty(), "no mark on the stack");
  std::vector<PickleRef> values(stack_.begin() + static_cast<ptrdiff_t>(marks_.back()),
                                stack_.end());
  stack_.resize(marks_.back());
  marks_.pop_back();
  return values;
}

std::string_view PickleMachine::keep(std::string text) {
  return pickle_.texts.emplace_back(std::move(text));
}

std::string_view PickleMachine::pop_string(const char* what) {
  const auto* string = pop()->as<PickleString>();
  require(string != nullptr, what, " must be a string");
  return string->text;
}

void PickleMachine::push_call(PickleRef callable, std::vector<PickleRef> args) {
  PickleObject object;
  object.callable = callable;
  object.args = make(PickleValue{PickleTuple{std::move(args)}});
  push_new(object);
}

bool PickleMachine::run_stack(unsigned char instruction) {
  switch (instruction) {
    case '(':  // MARK
      require(marks_.size() < kMaxPickleStack, "more than ", kMaxPickleStack, " marks");
      marks_.push_back(stack_.size());
      return true;
    case '0':  // POP, of a mark if one is on top
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    case '1':  // POP_MARK
      pop_to_mark();
      return true;
    case '2':  // DUP
      push(top());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::run_sequence(unsigned char instruction) {
  switch (instruction) {
    case ']':  // EMPTY_LIST
      push_new(PickleList{});
      return true;
    case 'l':  // LIST
      push_new(PickleList{pop_to_mark()});
      return true;
    case ')':  // EMPTY_TUPLE
      push_new(PickleTuple{});
      return true;
    case 't':  // TUPLE
      push_new(PickleTuple{pop_to_mark()});
      return true;
    case 0x85:    // TUPLE1
    case 0x86:    // TUPLE2
    case 0x87: {  // TUPLE3
      std::vector<PickleRef> items(instruction - 0x84u);
      for (size_t i = items.size(); i-- > 0;) items[i] = pop();
      push_new(PickleTuple{std::move(items)});
      return true;
    }
    case 0x8f:  // EMPTY_SET
      push_new(PickleSet{});
      return true;
    case 0x91:  // FROZENSET
      push_new(PickleSet{pop_to_mark()});
      return true;
    case 'a': {  // APPEND
      const PickleRef item = pop();
      add_items(top(), {item});
      return true;
    }
    case 'e':     // APPENDS
    case 0x90: {  // ADDITEMS
      const std::vector<PickleRef> items = pop_to_mark();
      add_items(top(), items);
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::add_items(PickleValue* target, const std::vector<PickleRef>& items) {
  auto append = [&items](std::vector<PickleRef>& to) {
    to.insert(to.end(), items.begin(), items.end());
  };
  if (auto* list = std::get_if<PickleList>(&target->data)) return append(list->items);
  if (auto* set = std::get_if<PickleSet>(&target->data)) return append(set->items);
  auto* object = std::get_if<PickleObject>(&target->data);
  require(object != nullptr, "items are added to what is no list, set or object");
  // The machine made this list, so the machine may also extend it.
  if (object->items == nullptr) object->items = make(PickleValue{PickleList{}});
  append(std::get<PickleList>(const_cast<PickleValue*>(object->items)->data).items);
}

bool PickleMachine::run_mapping(unsigned char instruction) {
  switch (instruction) {
    case '}':  // EMPTY_DICT
      push_new(PickleDict{});
      return true;
    case 'd': {  // DICT
      const std::vector<PickleRef> entries = pop_to_mark();
      push_new(PickleDict{});
      add_entries(top(), entries);
      return true;
    }
    case 's': {  // SETITEM
      const PickleRef value = pop();
      const PickleRef key = pop();
      add_entries(top(), {key, value});
      return true;
    }
    case 'u': {  // SETITEMS
      const std::vector<PickleRef> entries = pop_to_mark();
      add_entries(top(), entries);
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::add_entries(PickleValue* target,
                                const std::vector<PickleRef>& keys_and_values) {
  require(keys_and_values.size() % 2 == 0, "a key without a value");
  auto* dict = std::get_if<PickleDict>(&target->data);
  if (dict == nullptr) {
    auto* object = std::get_if<PickleObject>(&target->data);
    require(object != nullptr, "keys are set on what is no dict or object");
    if (object->entries == nullptr) object->entries = make(PickleValue{PickleDict{}});
    dict = &std::get<PickleDict>(const_cast<PickleValue*>(object->entries)->data);
  }
  for (size_t i = 0; i < keys_and_values.size(); i += 2) {
    dict->entries.emplace_back(keys_and_values[i], keys_and_values[i + 1]);
  }
}

Pickle parse_pickle(std::string_view bytes, const std::string& name) {
  return PickleMachine(bytes, name).run();
}

}  // namespace eps
