// The .safetensors format: 8 bytes of header length, the JSON header, the data.
#include "eps/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/base/printable.h"
#include "eps/io/bytes.h"
#include "eps/io/file.h"

namespace eps {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

constexpr std::pair<std::string_view, at::ScalarType> kDtypes[] = {
    {"F64", at::kDouble},
    {"F32", at::kFloat},
    {"F16", at::kHalf},
    {"BF16", at::kBFloat16},
    {"I64", at::kLong},
    {"I32", at::kInt},
    {"I16", at::kShort},
    {"I8", at::kChar},
    {"U8", at::kByte},
    {"BOOL", at::kBool},
};

// An `Entry` describes one tensor of the header; `begin` and `end` count from the start of the
// data.
struct Entry {
  std::string name;
  at::ScalarType dtype;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

at::ScalarType parse_dtype(const SortedJson& value, const std::string& name) {
  check(value.is_string(), name, ": 'dtype' must be a string, got ", value.type_name());
  const auto& text = value.get_ref<const std::string&>();
  for (const auto& [code, dtype] : kDtypes) {
    if (code == text) return dtype;
  }
  fail(name,
       ": dtype '",
       printable(text),
       "' is not one of F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL");
}

// Returns an array of whole numbers from 0 to 2^63 - 1.
Shape parse_counts(const SortedJson& value, const char* field, const std::string& name) {
  check(value.is_array(), name, ": '", field, "' must be an array, got ", value.type_name());
  Shape counts;
  for (const SortedJson& count : value) {
    check(count.is_number_unsigned() && count.get<uint64_t>() <= uint64_t{INT64_MAX},
          name,
          ": '",
          field,
          "' must hold whole numbers from 0 to 2^63 - 1, got ",
          count.is_number() ? count.dump() : count.type_name());
    counts.push_back(count.get<int64_t>());
  }
  return counts;
}

Entry parse_entry(const std::string& key,
                  const SortedJson& value,
                  size_t available,
                  const std::string& file) {
  const std::string name = file + ": tensor '" + printable(key) + "'";
  check(value.is_object(), name, ": must be a JSON object, got ", value.type_name());
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    check(value.contains(field), name, ": '", field, "' is missing");
  }
  Entry entry{key, parse_dtype(value["dtype"], name), parse_counts(value["shape"], "shape", name)};
  const Shape offsets = parse_counts(value["data_offsets"], "data_offsets", name);
  check(offsets.size() == 2, name, ": 'data_offsets' must hold 2 numbers, got ", offsets.size());
  entry.begin = static_cast<uint64_t>(offsets[0]);
  entry.end = static_cast<uint64_t>(offsets[1]);
  check(entry.begin <= entry.end && entry.end <= available,
        name,
        ": bytes ",
        entry.begin,
        " to ",
        entry.end,
        " are not inside the ",
        available,
        " bytes of data");
  const auto item_size = static_cast<int64_t>(at::elementSize(entry.dtype));
  const auto wanted = static_cast<uint64_t>(byte_count(entry.shape, item_size, name));
  check(wanted == entry.end - entry.begin,
        name,
        ": shape ",
        to_string(entry.shape),
        ": expected ",
        wanted,
        " bytes, found ",
        entry.end - entry.begin);
  return entry;
}

// Checks that each entry, in the order of the data, begins where the entry before it ends.
void check_coverage(std::vector<Entry>& entries, size_t available, const std::string& name) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    check(entry.begin >= covered,
          name,
          ": tensor '",
          printable(entry.name),
          "' begins at byte ",
          entry.begin,
          " and overlaps the one before it, which ends at ",
          covered);
    check(entry.begin == covered,
          name,
          ": bytes ",
          covered,
          " to ",
          entry.begin,
          " of the data belong to no tensor");
    covered = entry.end;
  }
  check(covered == available, name, ": expected ", covered, " bytes of data, found ", available);
}

std::map<std::string, std::string> parse_metadata(const SortedJson& value,
                                                  const std::string& name) {
  check(value.is_object(),
        name,
        ": '",
        kMetadata,
        "' must be a JSON object, got ",
        value.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    check(text.is_string(),
          name,
          ": metadata '",
          printable(key),
          "' must be a string, got ",
          text.type_name());
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Removes the JSON header of a file from the front of `bytes` and returns it.
SortedJson take_header(std::string_view& bytes, const std::string& name) {
  uint64_t length = 0;
  check(bytes.size() >= sizeof(length),
        name,
        ": not a .safetensors file: expected at least ",
        sizeof(length),
        " bytes, found ",
        bytes.size());
  std::memcpy(&length, bytes.data(), sizeof(length));
  bytes.remove_prefix(sizeof(length));
  check(length <= bytes.size(),
        name,
        ": not a .safetensors file, or truncated: expected ",
        length,
        " bytes of header, found ",
        bytes.size());
  // The header {name: {field: [numbers]}} has three levels, and a field for each tensor.
  SortedJson header = parse_sorted_json(
      bytes.substr(0, length), name + ": JSON header", {.depth = 3, .fields = SIZE_MAX});
  check(header.is_object(), name, ": the header must be a JSON object, got ", header.type_name());
  bytes.remove_prefix(length);
  return header;
}

std::string_view dtype_code(const Tensor& tensor, const std::string& name) {
  check(tensor.defined(), name, ": there is no tensor to write");
  for (const auto& [code, dtype] : kDtypes) {
    if (dtype == tensor.scalar_type()) return code;
  }
  fail(name,
       ": a .safetensors file cannot hold the dtype ",
       at::toString(tensor.scalar_type()),
       ", convert it first");
}

std::string dump_header(const SortedJson& header, const std::string& path) {
  try {
    std::string text = header.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const SortedJson::exception& error) {
    fail(path, ": a tensor name or metadata text is not UTF-8: ", printable(error.what(), 400));
  }
}

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, const std::string& name) {
  const SortedJson header = take_header(bytes, name);
  Safetensors file;
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key == kMetadata) {
      file.metadata = parse_metadata(value, name);
    } else {
      entries.push_back(parse_entry(key, value, bytes.size(), name));
    }
  }
  check_coverage(entries, bytes.size(), name);
  for (const Entry& entry : entries) {
    const std::string_view data = bytes.substr(entry.begin, entry.end - entry.begin);
    file.tensors[entry.name] = tensor_from_bytes(data, entry.shape, entry.dtype);
  }
  return file;
}

Safetensors read_safetensors(const std::string& path) {
  return parse_safetensors(read_file(path), path);
}

void write_safetensors(const std::string& path, const Safetensors& file) {
  SortedJson header = SortedJson::object();
  if (!file.metadata.empty()) header[std::string(kMetadata)] = file.metadata;
  std::vector<std::pair<std::string, Tensor>> arrays(file.tensors.begin(), file.tensors.end());
  for (auto& [name, tensor] : arrays) {
    const std::string full_name = path + ": tensor '" + printable(name) + "'";
    check(name != kMetadata, full_name, ": this name is reserved");
    header[name]["dtype"] = dtype_code(tensor, full_name);
    header[name]["shape"] = tensor.sizes().vec();
    tensor = tensor.detach().cpu().contiguous();
  }
  std::stable_sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) {
    return a.second.element_size() > b.second.element_size();
  });
  size_t size = 0;
  for (const auto& [name, tensor] : arrays) {
    header[name]["data_offsets"] = {size, size + tensor.nbytes()};
    size += tensor.nbytes();
  }
  const std::string text = dump_header(header, path);
  const uint64_t length = text.size();
  AtomicFile output(path);
  output.write({reinterpret_cast<const char*>(&length), sizeof(length)});
  output.write(text);
  for (const auto& [name, tensor] : arrays) output.write(bytes_of(tensor));
  output.commit();
}

}  // namespace eps
