// The pickle machine's instructions that name classes, record calls and use the memo.
#include <charconv>

#include "eps/base/printable.h"
#include "eps/io/torch/pickle_machine.h"

namespace eps {

bool PickleMachine::run_class(unsigned char instruction) {
  switch (instruction) {
    case 'c': {  // GLOBAL
      const std::string_view module = input_.line();
      push_new(PickleGlobal{module, input_.line()});
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const std::string_view name = pop_string("the name of a global");
      push_new(PickleGlobal{pop_string("the module of a global"), name});
      return true;
    }
    case 'P':  // PERSID
      push_new(PicklePersistent{make(PickleValue{PickleString{input_.line()}})});
      return true;
    case 'Q':  // BINPERSID
      push_new(PicklePersistent{pop()});
      return true;
    case 0x82:  // EXT1
    case 0x83:  // EXT2
    case 0x84:  // EXT4
      require(false, "names a class by a number of Python's extension registry");
      return false;
    default:
      return false;
  }
}

bool PickleMachine::run_object(unsigned char instruction) {
  switch (instruction) {
    case 'R':     // REDUCE
    case 0x81:    // NEWOBJ
    case 0x92: {  // NEWOBJ_EX
      PickleObject object;
      if (instruction == 0x92) object.keywords = pop();
      object.args = pop();
      object.callable = pop();
      require(object.args->as<PickleTuple>() != nullptr, "the arguments must be a tuple");
      push_new(object);
      return true;
    }
    case 'i': {  // INST
      const std::string_view module = input_.line();
      PickleValue* type = make(PickleValue{PickleGlobal{module, input_.line()}});
      push_call(type, pop_to_mark());
      return true;
    }
    case 'o': {  // OBJ
      std::vector<PickleRef> args = pop_to_mark();
      require(!args.empty(), "no class to make an object of");
      const PickleRef type = args.front();
      args.erase(args.begin());
      push_call(type, std::move(args));
      return true;
    }
    case 'b': {  // BUILD
      const PickleRef state = pop();
      build(top(), state);
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::build(PickleValue* target, PickleRef state) {
  auto* object = std::get_if<PickleObject>(&target->data);
  require(object != nullptr, "a state is given to what is no object");
  require(object->state == nullptr, "a second state is given to one object");
  object->state = state;
}

bool PickleMachine::run_memo(unsigned char instruction) {
  switch (instruction) {
    case 'p':  // PUT
      remember(decimal_index());
      return true;
    case 'q':  // BINPUT
      remember(input_.little_endian<uint8_t>());
      return true;
    case 'r':  // LONG_BINPUT
      remember(input_.little_endian<uint32_t>());
      return true;
    case 0x94:  // MEMOIZE
      remember(memo_.size());
      return true;
    case 'g':  // GET
      recall(decimal_index());
      return true;
    case 'h':  // BINGET
      recall(input_.little_endian<uint8_t>());
      return true;
    case 'j':  // LONG_BINGET
      recall(input_.little_endian<uint32_t>());
      return true;
    default:
      return false;
  }
}

void PickleMachine::remember(uint64_t index) {
  require(memo_.size() < kMaxPickleMemo, "more than ", kMaxPickleMemo, " memo entries");
  memo_[index] = top();
}

void PickleMachine::recall(uint64_t index) {
  const auto found = memo_.find(index);
  require(found != memo_.end(), "no memo entry ", index);
  push(found->second);
}

uint64_t PickleMachine::decimal_index() {
  const std::string_view line = input_.line();
  uint64_t index = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  require(error == std::errc() && end == line.data() + line.size(),
          "memo entry ",
          quote(line),
          " is not a number");
  return index;
}

bool PickleMachine::run_framing(unsigned char instruction) {
  switch (instruction) {
    case 0x80: {  // PROTO
      const unsigned protocol = input_.little_endian<uint8_t>();
      require(protocol <= 5, "protocol ", protocol, "; 0 to 5 can be read");
      return true;
    }
    case 0x95: {  // FRAME: the number of bytes for a streaming reader to fetch at once
      const auto length = input_.little_endian<uint64_t>();
      require(length <= input_.remaining(), "a frame of ", length, " bytes is past the end");
      return true;
    }
    case 0x97:  // NEXT_BUFFER
    case 0x98:  // READONLY_BUFFER
      require(false, "takes a buffer from outside the pickle");
      return false;
    default:
      return false;
  }
}

}  // namespace eps
