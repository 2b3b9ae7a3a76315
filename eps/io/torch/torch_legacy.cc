// Streams of torch.save before its zip format, as files or inside a pickle.
#include "eps/base/printable.h"
#include "eps/io/byte_reader.h"
#include "eps/io/torch/pickle_view.h"
#include "eps/io/torch/torch_storage.h"

namespace eps {
namespace {

constexpr int64_t kProtocol = 1001;
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

// A `PickleSequence` reads successive pickles, each beginning at the end of the pickle before.
class PickleSequence {
 public:
  PickleSequence(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Pickle next() {
    Pickle pickle = parse_pickle(bytes_.substr(position_), name_);
    position_ += pickle.size;
    return pickle;
  }
  size_t position() const { return position_; }

 private:
  const std::string_view bytes_;
  const std::string& name_;
  size_t position_ = 0;
};

void refuse_big_endian(PickleRef machine, const std::string& name) {
  const PickleRef little = find(machine, "little_endian");
  const auto* value = little == nullptr ? nullptr : little->as<bool>();
  check(value == nullptr || *value, name, ": is of a big-endian machine, which is not read");
}

// Returns the bytes of an element by storage key, from all persistent ids of the pickle.
std::map<std::string, uint64_t> element_sizes(const Pickle& object, const std::string& name) {
  std::map<std::string, uint64_t> sizes;
  for (const PickleValue& value : object.values) {
    const auto* persistent = value.as<PicklePersistent>();
    if (persistent == nullptr || !is_storage_id(*persistent)) continue;
    const StorageId id = parse_storage_id(*persistent, name);
    sizes[id.key] = c10::elementSize(id.dtype);
  }
  return sizes;
}

}  // namespace

bool is_legacy_magic(PickleRef value) {
  const auto* magic = value->as<PickleBigInteger>();
  return magic != nullptr && magic->bytes == kMagic;
}

LegacyStream parse_legacy_stream(std::string_view bytes, const std::string& name) {
  PickleSequence pickles(bytes, name);
  check(is_legacy_magic(pickles.next().root), name, ": does not begin with torch's magic number");
  const Pickle protocol = pickles.next();
  const auto* version = protocol.root->as<int64_t>();
  check(version != nullptr && *version == kProtocol, name, ": torch protocol is not ", kProtocol);
  refuse_big_endian(pickles.next().root, name);
  LegacyStream stream;
  stream.object = pickles.next();
  const std::map<std::string, uint64_t> sizes = element_sizes(stream.object, name);
  const Pickle keys = pickles.next();
  const auto* items = items_of(keys.root);
  check(items != nullptr, name, ": has no list of storages");
  ByteReader reader(bytes, name, pickles.position());
  for (const PickleRef item : *items) {
    const auto* key = text_of(item);
    check(key != nullptr, name, ": the key of a storage is not a string");
    const auto size = sizes.find(std::string(*key));
    check(size != sizes.end(), name, ": nothing refers to storage ", quote(*key));
    const auto elements = reader.little_endian<uint64_t>();
    check(elements <= reader.remaining() / size->second,
          name,
          ": storage ",
          quote(*key),
          " declares ",
          elements,
          " elements, past the end");
    stream.storages.add(size->first, reader.take(elements * size->second));
  }
  return stream;
}

}  // namespace eps
