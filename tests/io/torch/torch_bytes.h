// Torch checkpoints composed part by part, for the tests of their reader.
#pragma once

#include "eps/io/torch/torch_file.h"
#include "tests/files.h"
#include "tests/io/torch/pickle_bytes.h"
#include "tests/io/zip_bytes.h"

namespace eps::pickled {

// Returns a torch zip of the given object and storages.
inline std::string torch_zip(const std::string& object,
                             const std::vector<std::pair<std::string, std::string>>& storages) {
  std::vector<zipped::File> files = {{"archive/data.pkl", whole(object)},
                                     {"archive/byteorder", "little"}};
  for (const auto& [key, data] : storages) files.push_back({joined({"archive/data/", key}), data});
  files.push_back({"archive/version", "3\n"});
  return zipped::archive(files);
}

inline std::string float_tensor(const std::string& key, int64_t elements) {
  return tensor(storage_id("FloatStorage", key, elements), 0, {elements}, {1});
}

// Returns an instance of one of NVIDIA's persistent classes. `source`
// writes the source text or recalls an earlier one.
inline std::string persistent(const std::string& type,
                              const std::string& source,
                              const std::string& state) {
  return call(global("torch_utils.persistence", "_reconstruct_persistent_obj"),
              {dict({{"type", text("class")},
                     {"version", integer(6)},
                     {"module_src", source},
                     {"class_name", text(type)},
                     {"state", state}})});
}

inline std::string module_state(const Entries& parameters,
                                const Entries& buffers,
                                const Entries& modules,
                                const Entries& attributes) {
  Entries all = {{"training", flag(false)},
                 {"_parameters", ordered_dict(parameters)},
                 {"_buffers", ordered_dict(buffers)},
                 {"_non_persistent_buffers_set", "\x8f"},
                 {"_forward_hooks", ordered_dict({})},
                 {"_modules", ordered_dict(modules)}};
  all.insert(all.end(), attributes.begin(), attributes.end());
  return dict(all);
}

inline TorchFile parse(const std::string& bytes) { return parse_torch_file(bytes, "a.pt"); }
inline std::string parse_error(const std::string& bytes) {
  return error_of([&bytes] { parse(bytes); });
}

inline std::vector<std::string> names_of(const TorchFile& file) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file.tensors) names.push_back(name);
  return names;
}

inline Tensor floats(std::vector<float> values, at::IntArrayRef shape) {
  return at::tensor(values, at::kFloat).reshape(shape);
}

}  // namespace eps::pickled
