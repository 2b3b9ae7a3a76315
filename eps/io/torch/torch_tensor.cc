// Tensors as torch writes them into pickles: records of calls that would rebuild them.
#include "eps/io/torch/torch_tensor.h"

#include "eps/io/bytes.h"
#include "eps/io/torch/pickle_view.h"

namespace eps {
namespace {

// A `Call` is the record of a call to one of torch's rebuilding functions.
struct Call {
  const PickleGlobal* function;
  const std::vector<PickleRef>* args;
};

bool is_rebuilding(const PickleGlobal& function) {
  return (function.module == "torch._utils" || function.module == "torch._tensor") &&
         function.name.starts_with("_rebuild_");
}

Call call_of(PickleRef value) {
  const auto* object = value->as<PickleObject>();
  return {callable_of(value), object == nullptr ? nullptr : items_of(object->args)};
}

PickleRef argument(const Call& call, size_t index, const std::string& label) {
  check(call.args != nullptr && index < call.args->size(),
        label,
        ": ",
        dotted(*call.function),
        " has no argument ",
        index);
  return (*call.args)[index];
}

int64_t whole_number(PickleRef value, const std::string& label, const char* what) {
  const auto* number = value->as<int64_t>();
  check(number != nullptr && *number >= 0, label, ": its ", what, " is not a whole number");
  return *number;
}

Shape whole_numbers(PickleRef value, const std::string& label, const char* what) {
  const auto* items = items_of(value);
  check(items != nullptr, label, ": its ", what, " is no tuple");
  Shape numbers;
  for (const PickleRef item : *items) numbers.push_back(whole_number(item, label, what));
  return numbers;
}

// Returns the index of a view's last element in the storage, counted from its first element.
int64_t last_element(const Shape& size, const Shape& stride, const std::string& label) {
  int64_t last = 0;
  for (size_t i = 0; i < size.size(); ++i) {
    int64_t step = 0;
    const bool overflows = __builtin_mul_overflow(size[i] - 1, stride[i], &step) ||
                           __builtin_add_overflow(last, step, &last);
    check(!overflows, label, ": its strides reach beyond 2^63");
  }
  return last;
}

Tensor view(const Tensor& storage,
            int64_t offset,
            const Shape& size,
            const Shape& stride,
            const std::string& label) {
  check(size.size() == stride.size(),
        label,
        ": has ",
        size.size(),
        " sizes but ",
        stride.size(),
        " strides");
  const auto item_size = static_cast<int64_t>(storage.element_size());
  if (byte_count(size, item_size, label) == 0) return at::empty(size, storage.options());
  const int64_t last = last_element(size, stride, label);
  check(offset < storage.numel() && last < storage.numel() - offset,
        label,
        ": from element ",
        offset,
        " it reaches ",
        last,
        " further, past its storage of ",
        storage.numel());
  return storage.as_strided(size, stride, offset + storage.storage_offset());
}

// Refuses tensors with a lazy negation or conjugation, which torch keeps as a flag beside the data.
void refuse_lazy_flags(PickleRef metadata, const std::string& label) {
  for (const char* flag : {"neg", "conj"}) {
    const PickleRef value = find(metadata, flag);
    const auto* set = value == nullptr ? nullptr : value->as<bool>();
    check(set == nullptr || !*set, label, ": is a lazily negated or conjugated tensor");
  }
}

// Rebuilds the tensor of _rebuild_tensor(storage, offset, size, stride), and of v2 and v3, which
// add requires_grad, hooks, (v3: the element type of an untyped storage) and metadata.
Tensor rebuild_dense(const Call& call, TorchStorages& storages, const std::string& label) {
  const bool typed = call.function->name == "_rebuild_tensor_v3";
  std::optional<at::ScalarType> dtype;
  if (typed) {
    const auto* type = argument(call, 6, label)->as<PickleGlobal>();
    check(type != nullptr && type->module == "torch", label, ": names no element type");
    dtype = dtype_of_name(type->name, label);
  }
  const size_t metadata = typed ? 7 : 6;
  if (call.args != nullptr && metadata < call.args->size()) {
    refuse_lazy_flags((*call.args)[metadata], label);
  }
  const int64_t offset = whole_number(argument(call, 1, label), label, "storage offset");
  const Shape size = whole_numbers(argument(call, 2, label), label, "size");
  const Shape stride = whole_numbers(argument(call, 3, label), label, "stride");
  return view(storages.load(argument(call, 0, label), dtype, label), offset, size, stride, label);
}

}  // namespace

bool is_tensor_record(PickleRef value) {
  const PickleGlobal* function = callable_of(value);
  return function != nullptr && is_rebuilding(*function);
}

Tensor rebuild_tensor(PickleRef value, TorchStorages& storages, const std::string& label) {
  Call call = call_of(value);
  // The loop unwraps parameters and subclasses down to the plain tensor, one call at each step; a
  // record that contains itself ends at the depth limit.
  for (size_t depth = 0; depth < kMaxPickleDepth; ++depth) {
    check(call.function != nullptr && is_rebuilding(*call.function), label, ": is no tensor");
    const std::string_view name = call.function->name;
    if (name == "_rebuild_parameter" || name == "_rebuild_parameter_with_state") {
      call = call_of(argument(call, 0, label));
    } else if (name == "_rebuild_from_type_v2") {  // (function, type, arguments, state)
      const auto* function = argument(call, 0, label)->as<PickleGlobal>();
      call = {function, items_of(argument(call, 2, label))};
    } else if (name == "_rebuild_tensor" || name == "_rebuild_tensor_v2" ||
               name == "_rebuild_tensor_v3") {
      return rebuild_dense(call, storages, label);
    } else {
      fail(label, ": is stored by ", dotted(*call.function), "; only dense tensors are read");
    }
  }
  fail(label, ": is wrapped more than ", kMaxPickleDepth, " times");
}

}  // namespace eps
