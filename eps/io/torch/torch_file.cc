// A reader of PyTorch checkpoints that needs no Python and executes nothing.
#include "eps/io/torch/torch_file.h"

#include <algorithm>

#include "eps/io/bytes.h"
#include "eps/io/torch/pickle_json.h"
#include "eps/io/torch/pickle_view.h"
#include "eps/io/torch/torch_module.h"
#include "eps/io/zip.h"

namespace eps {
namespace {

// Returns the entry of this name, or null.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, const std::string& name) {
  for (const ZipEntry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// Returns "archive/" for the archive whose pickle is archive/data.pkl.
std::string top_folder(const std::vector<ZipEntry>& entries, const std::string& name) {
  constexpr std::string_view kPickle = "data.pkl";
  std::optional<std::string> folder;
  for (const ZipEntry& entry : entries) {
    const size_t slash = entry.name.find('/');
    const size_t begin = slash == std::string::npos ? 0 : slash + 1;
    if (std::string_view(entry.name).substr(begin) != kPickle) continue;
    check(!folder.has_value(), name, ": has more than one data.pkl");
    folder = entry.name.substr(0, begin);
  }
  check(folder.has_value(), name, ": a ZIP archive without data.pkl is no torch checkpoint");
  return *folder;
}

// Returns the module at the root, or the first under the keys at which checkpoints keep their
// network, or null.
PickleRef find_module(PickleRef root) {
  if (is_module(object_attributes(root))) return root;
  for (const char* key : {"ema", "net", "model"}) {
    const PickleRef value = find(root, key);
    if (is_module(object_attributes(value))) return value;
  }
  return nullptr;
}

SortedJson config_of(PickleRef root) {
  if (const PickleRef module = find_module(root)) return module_config(module);
  const std::optional<SortedJson> config = PickleJson().convert(root);
  return config && config->is_object() ? *config : SortedJson::object();
}

TorchFile collect(const char* kind,
                  PickleRef root,
                  TorchStorages& storages,
                  uint64_t file_size,
                  const std::string& name) {
  TorchFile file;
  file.kind = kind;
  file.tensors = collect_tensors(root, storages, file_size, name);
  check(!file.tensors.empty(), name, ": holds no tensors");
  file.config = config_of(root).dump();
  return file;
}

TorchFile parse_zip(std::string_view bytes, const std::string& name) {
  const std::vector<ZipEntry> entries = read_zip(bytes, name);
  const std::string folder = top_folder(entries, name);
  if (const ZipEntry* order = find_entry(entries, folder + "byteorder")) {
    check(stored_content(*order, name) == "little",
          name,
          ": is of a big-endian machine, which is not read");
  }
  TorchStorages storages;
  const std::string data = folder + "data/";
  for (const ZipEntry& entry : entries) {
    if (!entry.name.starts_with(data)) continue;
    storages.add(entry.name.substr(data.size()), stored_content(entry, name));
  }
  const ZipEntry* object = find_entry(entries, folder + "data.pkl");
  const Pickle pickle = parse_pickle(stored_content(*object, name), name + ": data.pkl");
  // Archives of TorchScript have the source of their functions, which is not read.
  const bool has_code = std::any_of(entries.begin(), entries.end(), [&](const ZipEntry& entry) {
    return entry.name.starts_with(folder + "code/");
  });
  return collect(has_code ? "torchscript" : "torch-zip", pickle.root, storages, bytes.size(), name);
}

TorchFile parse_legacy(std::string_view bytes, const std::string& name) {
  LegacyStream stream = parse_legacy_stream(bytes, name);
  return collect("torch-legacy", stream.object.root, stream.storages, bytes.size(), name);
}

TorchFile parse_plain(const Pickle& pickle, std::string_view bytes, const std::string& name) {
  TorchStorages storages;
  const PickleRef module = find_module(pickle.root);
  const PickleRef root = module == nullptr ? pickle.root : module;
  const char* kind = is_persistent_object(root) ? "edm-snapshot" : "pickle";
  return collect(kind, root, storages, bytes.size(), name);
}

// Returns whether the bytes may begin a pickle. Pickles of protocol 2 and later begin with 0x80;
// older pickles with a mark, a container, a global or, for torch's magic number, a long integer.
bool may_be_pickle(std::string_view bytes) {
  return !bytes.empty() && std::string_view("\x80(])}cL").find(bytes[0]) != std::string_view::npos;
}

}  // namespace

TorchFile parse_torch_file(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("PK\x03\x04")) return parse_zip(bytes, name);
  check(may_be_pickle(bytes), name, ": no torch checkpoint: it begins with ", quote_start(bytes));
  const Pickle first = parse_pickle(bytes, name);
  return is_legacy_magic(first.root) ? parse_legacy(bytes, name) : parse_plain(first, bytes, name);
}

}  // namespace eps
