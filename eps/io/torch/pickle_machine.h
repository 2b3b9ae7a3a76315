// The stack machine behind parse_pickle(): its state, and its instructions by family.
#pragma once

#include <unordered_map>

#include "eps/base/core.h"
#include "eps/io/byte_reader.h"
#include "eps/io/torch/pickle.h"

namespace eps {

class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, const std::string& name);
  Pickle run();

 private:
  // Runs the instruction and returns true, or returns false if the instruction is of another
  // family.
  bool run_constant(unsigned char instruction);
  bool run_number(unsigned char instruction);
  bool run_text(unsigned char instruction);
  bool run_bytes(unsigned char instruction);
  bool run_stack(unsigned char instruction);
  bool run_sequence(unsigned char instruction);
  bool run_mapping(unsigned char instruction);
  bool run_class(unsigned char instruction);
  bool run_object(unsigned char instruction);
  bool run_memo(unsigned char instruction);
  bool run_framing(unsigned char instruction);

  void execute(unsigned char instruction);
  template <class... Parts>
  void require(bool condition, const Parts&... parts) const;

  PickleValue* make(PickleValue value);
  void push(PickleValue* value);
  template <class T>
  void push_new(T data) {
    push(make(PickleValue{std::move(data)}));
  }
  PickleValue* top() const;
  PickleValue* pop();
  std::vector<PickleRef> pop_to_mark();
  std::string_view keep(std::string text);
  std::string_view pop_string(const char* what);

  void push_integer(std::string_view little_endian);
  void push_decimal(std::string_view digits);
  void push_call(PickleRef callable, std::vector<PickleRef> args);
  void add_items(PickleValue* target, const std::vector<PickleRef>& items);
  void add_entries(PickleValue* target, const std::vector<PickleRef>& keys_and_values);
  void build(PickleValue* target, PickleRef state);
  void remember(uint64_t index);
  void recall(uint64_t index);
  uint64_t decimal_index();

  const std::string& name_;
  ByteReader input_;
  size_t instruction_at_ = 0;
  Pickle pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;  // stack sizes; the last mark protects the values below it
  std::unordered_map<uint64_t, PickleValue*> memo_;
  PickleValue* none_;
  PickleValue* false_;
  PickleValue* true_;
};

template <class... Parts>
void PickleMachine::require(bool condition, const Parts&... parts) const {
  check(condition, name_, ": pickle instruction at byte ", instruction_at_, ": ", parts...);
}

}  // namespace eps
