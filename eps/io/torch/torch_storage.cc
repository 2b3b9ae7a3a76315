// The storages of a torch file: flat arrays of one element type, of which tensors are views.
#include "eps/io/torch/torch_storage.h"

#include <array>

#include "eps/base/printable.h"
#include "eps/io/bytes.h"
#include "eps/io/torch/pickle_text.h"
#include "eps/io/torch/pickle_view.h"

namespace eps {
namespace {

struct ElementType {
  std::string_view dtype;    // torch.<dtype>
  std::string_view storage;  // torch.<storage>Storage
  at::ScalarType type;
};

constexpr std::array<ElementType, 10> kElementTypes{{
    {"float32", "Float", at::kFloat},
    {"float64", "Double", at::kDouble},
    {"float16", "Half", at::kHalf},
    {"bfloat16", "BFloat16", at::kBFloat16},
    {"int64", "Long", at::kLong},
    {"int32", "Int", at::kInt},
    {"int16", "Short", at::kShort},
    {"int8", "Char", at::kChar},
    {"uint8", "Byte", at::kByte},
    {"bool", "Bool", at::kBool},
}};

// Returns the type of a storage class: torch.FloatStorage is an array of float32, and
// torch.storage.UntypedStorage one of bytes.
at::ScalarType dtype_of_class(const PickleGlobal& type, const std::string& label) {
  constexpr std::string_view kSuffix = "Storage";
  std::string_view name = type.name;
  if (name == "UntypedStorage" || name == "_UntypedStorage") return at::kByte;
  const bool is_storage = name.size() > kSuffix.size() && name.ends_with(kSuffix);
  if (is_storage && type.module.starts_with("torch")) {
    name.remove_suffix(kSuffix.size());
    for (const ElementType& known : kElementTypes) {
      if (known.storage == name) return known.type;
    }
  }
  fail(label, ": storage class ", dotted(type), " is not read");
}

int64_t integer_item(const std::vector<PickleRef>& items, size_t index, const std::string& label) {
  const auto* value = index < items.size() ? items[index]->as<int64_t>() : nullptr;
  check(value != nullptr && *value >= 0, label, ": its storage id has no number at ", index);
  return *value;
}

Tensor copy_elements(std::string_view bytes, at::ScalarType dtype) {
  const size_t size = c10::elementSize(dtype);
  const size_t count = bytes.size() / size;
  return tensor_from_bytes(bytes.substr(0, count * size), {static_cast<int64_t>(count)}, dtype);
}

// Returns the text of _codecs.encode(text, 'latin1'), the form of bytes in protocol 2 and older.
PickleRef encoded_text(PickleRef value) {
  const PickleGlobal* callable = callable_of(value);
  const bool encodes =
      callable != nullptr && callable->module == "_codecs" && callable->name == "encode";
  return encodes ? argument_of(value, 0) : nullptr;
}

}  // namespace

at::ScalarType dtype_of_name(std::string_view name, const std::string& label) {
  for (const ElementType& known : kElementTypes) {
    if (known.dtype == name) return known.type;
  }
  fail(label, ": element type ", quote(name), " is not read");
}

std::string_view dtype_name(at::ScalarType dtype) {
  for (const ElementType& known : kElementTypes) {
    if (known.type == dtype) return known.dtype;
  }
  fail("element type ", at::toString(dtype), " is not one that files are read with");
}

bool is_storage_id(const PicklePersistent& persistent) {
  const auto* items = items_of(persistent.id);
  const auto* kind = items == nullptr || items->empty() ? nullptr : text_of(items->front());
  return kind != nullptr && *kind == "storage";
}

StorageId parse_storage_id(const PicklePersistent& persistent, const std::string& label) {
  check(is_storage_id(persistent), label, ": refers to something that is no storage");
  const std::vector<PickleRef>& items = *items_of(persistent.id);
  const auto* type = items.size() > 1 ? items[1]->as<PickleGlobal>() : nullptr;
  const auto* key = items.size() > 2 ? text_of(items[2]) : nullptr;
  check(type != nullptr && key != nullptr, label, ": its storage id has no class or no key");
  StorageId id;
  id.dtype = dtype_of_class(*type, label);
  id.key = std::string(*key);
  id.elements = integer_item(items, 4, label);
  const auto* view = items.size() > 5 ? items_of(items[5]) : nullptr;
  if (view != nullptr) {
    id.view_offset = integer_item(*view, 1, label);
    id.view_elements = integer_item(*view, 2, label);
  }
  return id;
}

Tensor TorchStorages::load(PickleRef value,
                           std::optional<at::ScalarType> dtype,
                           const std::string& label) {
  const auto* persistent = value == nullptr ? nullptr : value->as<PicklePersistent>();
  if (persistent != nullptr) return load_by_id(parse_storage_id(*persistent, label), dtype, label);
  const PickleGlobal* callable = callable_of(value);
  const bool is_stream = callable != nullptr && callable->module == "torch.storage" &&
                         callable->name == "_load_from_bytes";
  check(is_stream, label, ": its storage is of a kind that is not read");
  return load_stream(argument_of(value, 0), dtype, label);
}

Tensor TorchStorages::load_by_id(const StorageId& id,
                                 std::optional<at::ScalarType> dtype,
                                 const std::string& label) {
  const auto found = raw_.find(id.key);
  check(found != raw_.end(), label, ": its storage ", quote(id.key), " is not in the file");
  const uint64_t size = c10::elementSize(id.dtype);
  const auto elements = static_cast<uint64_t>(id.elements);
  check(elements <= found->second.size() / size,
        label,
        ": its storage ",
        quote(id.key),
        " declares ",
        elements,
        " elements of ",
        size,
        " bytes but has ",
        found->second.size(),
        " bytes");
  const at::ScalarType type = dtype.value_or(id.dtype);
  Tensor& storage = by_key_[{id.key, type}];
  if (!storage.defined()) storage = copy_elements(found->second.substr(0, elements * size), type);
  if (id.view_elements < 0) return storage;
  check(id.view_offset <= storage.numel() && id.view_elements <= storage.numel() - id.view_offset,
        label,
        ": its part of storage ",
        quote(id.key),
        " is outside of it");
  return storage.narrow(0, id.view_offset, id.view_elements);
}

Tensor TorchStorages::load_stream(PickleRef bytes,
                                  std::optional<at::ScalarType> dtype,
                                  const std::string& label) {
  const auto* plain = bytes == nullptr ? nullptr : bytes->as<PickleBytes>();
  const auto* text = text_of(encoded_text(bytes));
  check(plain != nullptr || text != nullptr, label, ": its storage has no bytes");
  // The address of the bytes is the key, not that of the record around them: many records may share
  // them.
  const char* place = plain != nullptr ? plain->bytes.data() : text->data();
  Tensor& storage = by_stream_[{place, dtype.value_or(at::ScalarType::Undefined)}];
  if (storage.defined()) return storage;
  std::optional<std::string> decoded;
  if (text != nullptr) {
    decoded = latin1_of_utf8(*text);
    check(decoded.has_value(), label, ": the text of its storage is not Latin-1");
  }
  LegacyStream stream = parse_legacy_stream(decoded ? *decoded : plain->bytes, label);
  const auto* persistent = stream.object.root->as<PicklePersistent>();
  check(persistent != nullptr, label, ": the stream of its storage holds something else");
  storage = stream.storages.load_by_id(parse_storage_id(*persistent, label), dtype, label);
  return storage;
}

}  // namespace eps
