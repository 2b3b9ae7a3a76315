// Arrays in files: the extension chooses the format.
#include "eps/io/array.h"

#include "eps/base/printable.h"
#include "eps/io/npy.h"
#include "eps/io/safetensors.h"

namespace eps {
namespace {

constexpr std::string_view kExtension = ".safetensors", kNamed = ".safetensors#";

// A `TensorPath` holds the parts of x.safetensors#name.
struct TensorPath {
  std::string file, tensor;
};

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }

TensorPath parse_safetensors_path(const std::string& path) {
  check(
      is_array_path(path),
      path,
      ": unknown kind of array file, the known ones are .npy, .safetensors and .safetensors#name");
  if (path.ends_with(kExtension)) return {path, ""};
  const size_t hash = path.rfind(kNamed) + kExtension.size();
  check(hash + 1 < path.size(), path, ": a tensor name is wanted behind '#'");
  return {path.substr(0, hash), path.substr(hash + 1)};
}

std::string names(const Safetensors& file) {
  std::string text;
  for (const auto& [name, tensor] : file.tensors) text += (text.empty() ? "" : ", ") + name;
  return printable(text, 400);
}

}  // namespace

bool is_array_path(const std::string& path) {
  return is_npy(path) || path.ends_with(kExtension) || path.find(kNamed) != path.npos;
}

Tensor read_array(const std::string& path) {
  if (is_npy(path)) return read_npy(path);
  const auto [file_path, name] = parse_safetensors_path(path);
  const Safetensors file = read_safetensors(file_path);
  if (name.empty()) {
    check(file.tensors.size() == 1,
          path,
          ": holds ",
          file.tensors.size(),
          " tensors, one is wanted; choose with ",
          path,
          "#name: ",
          names(file));
    return file.tensors.begin()->second;
  }
  const auto found = file.tensors.find(name);
  check(found != file.tensors.end(), file_path, ": has no tensor '", name, "', only ", names(file));
  return found->second;
}

void write_array(const std::string& path, const Tensor& tensor) {
  if (is_npy(path)) return write_npy(path, tensor);
  const auto [file_path, name] = parse_safetensors_path(path);
  write_safetensors(file_path, {{{name.empty() ? "array" : name, tensor}}, {}});
}

void require_finite(const Tensor& tensor, const std::string& name) {
  const Tensor places = at::isfinite(tensor).logical_not().nonzero().cpu();
  const int64_t count = places.size(0);
  if (count == 0) return;
  std::ostringstream place;
  for (int64_t i = 0; i < places.size(1); ++i) {
    place << (i ? ", " : "") << places[0][i].item<int64_t>();
  }
  fail(name,
       ": ",
       count,
       count == 1 ? " value is not finite, at [" : " values are not finite, the first at [",
       place.str(),
       "]");
}

}  // namespace eps
