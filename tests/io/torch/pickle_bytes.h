// Pickles composed instruction by instruction, for the tests of their readers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace eps::pickled {

using Parts = std::vector<std::string>;

inline std::string little_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// Returns the concatenated parts. It also replaces "text" + string, about which GCC 12 warns
// wrongly.
inline std::string joined(const Parts& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

// Returns a whole pickle of protocol 4 around instructions that leave one value on the stack.
inline std::string whole(const std::string& body) { return joined({"\x80\x04", body, "."}); }

inline std::string none() { return "N"; }
inline std::string flag(bool value) { return value ? "\x88" : "\x89"; }
inline std::string integer(int64_t value) { return joined({"\x8a\x08", little_endian(value, 8)}); }
inline std::string text(const std::string& value) {
  return joined({"X", little_endian(value.size(), 4), value});
}
inline std::string bytes(const std::string& value) {
  return joined({"B", little_endian(value.size(), 4), value});
}
inline std::string number(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::string digits = little_endian(bits, 8);
  return joined({"G", std::string(digits.rbegin(), digits.rend())});
}

inline std::string list(const Parts& items) { return joined({"](", joined(items), "e"}); }
inline std::string tuple(const Parts& items) { return joined({"(", joined(items), "t"}); }
inline std::string integers(const std::vector<int64_t>& values) {
  Parts items;
  for (const int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}

using Entries = std::vector<std::pair<std::string, std::string>>;

inline std::string entries(const Entries& entries) {
  std::string body = "(";
  for (const auto& [key, value] : entries) body += text(key) + value;
  return body + "u";
}
inline std::string dict(const Entries& content) { return joined({"}", entries(content)}); }
inline std::string global(const std::string& module, const std::string& name) {
  return joined({"c", module, "\n", name, "\n"});
}
inline std::string call(const std::string& callable, const Parts& args) {
  return callable + tuple(args) + "R";
}
inline std::string ordered_dict(const Entries& content) {
  return call(global("collections", "OrderedDict"), {}) + entries(content);
}
// Returns an instance constructed without arguments, whose __dict__ is then set.
inline std::string instance(const std::string& type, const std::string& attributes) {
  return type + ")\x81" + attributes + "b";
}
inline std::string memoize(const std::string& value, uint8_t index) {
  return value + "q" + static_cast<char>(index);
}
inline std::string recall(uint8_t index) { return std::string("h") + static_cast<char>(index); }

// Returns the persistent id that torch writes for a storage.
inline std::string storage_id(const std::string& type, const std::string& key, int64_t elements) {
  return tuple(
             {text("storage"), global("torch", type), text(key), text("cpu"), integer(elements)}) +
         "Q";
}
inline std::string tensor(const std::string& storage,
                          int64_t offset,
                          const std::vector<int64_t>& size,
                          const std::vector<int64_t>& stride) {
  return call(
      global("torch._utils", "_rebuild_tensor_v2"),
      {storage, integer(offset), integers(size), integers(stride), flag(false), ordered_dict({})});
}
inline std::string parameter(const std::string& tensor) {
  return call(global("torch._utils", "_rebuild_parameter"), {tensor, flag(true), ordered_dict({})});
}

template <class Number>
std::string raw(const std::vector<Number>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
}

// A `RawStorage` is a key with the elements and raw data of a storage. legacy() returns a stream in
// the format of torch.save before its zip format.
struct RawStorage {
  std::string key;
  uint64_t elements;
  std::string data;
};
inline std::string legacy(const std::string& object, const std::vector<RawStorage>& storages) {
  const std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  Parts keys;
  std::string data;
  for (const RawStorage& storage : storages) {
    keys.push_back(text(storage.key));
    data += little_endian(storage.elements, 8) + storage.data;
  }
  return whole(magic) + whole(integer(1001)) +
         whole(dict({{"protocol_version", integer(1001)}, {"little_endian", flag(true)}})) +
         whole(object) + whole(list(keys)) + data;
}

// Returns a float32 storage inside a pickle, as in NVIDIA's snapshots.
inline std::string inner_storage(const std::vector<float>& values) {
  const std::string id = storage_id("FloatStorage", "94", static_cast<int64_t>(values.size()));
  return call(global("torch.storage", "_load_from_bytes"),
              {bytes(legacy(id, {{"94", values.size(), raw(values)}}))});
}

}  // namespace eps::pickled
