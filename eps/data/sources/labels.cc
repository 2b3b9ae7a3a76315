// Labels of a folder or archive: from its dataset.json, or from its folders.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "eps/base/json.h"
#include "eps/base/printable.h"
#include "eps/data/sources/source.h"

namespace eps {
namespace {

// A network has one input per class: a larger number is a mistake in the file.
constexpr int64_t kMaxClasses = int64_t{1} << 20;

Json parse_labels(const std::string& text, const std::string& label) {
  Json content = parse_json(text, label);
  check(content.is_object(), label, ": must be a JSON object, got ", content.type_name());
  const auto found = content.find("labels");
  if (found == content.end()) return nullptr;
  Json labels = std::move(*found);
  check(labels.is_null() || labels.is_array(), label, ": \"labels\" is neither a list nor null");
  return labels;
}

// Returns the label of each image, in the order of the images.
std::vector<const Json*> match(const Json& labels,
                               const std::vector<std::string>& names,
                               const std::string& label) {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  std::vector<const Json*> of_image(names.size(), nullptr);
  for (const Json& pair : labels) {
    check(pair.is_array() && pair.size() == 2 && pair[0].is_string(),
          label,
          ": entry ",
          &pair - &labels[0],
          " of \"labels\" is not [\"name of the image\", label]");
    const auto& name = pair[0].get_ref<const std::string&>();
    const auto found = places.find(name);
    check(found != places.end(), label, ": labels the image ", quote(name), ", which is not there");
    const Json*& slot = of_image[found->second];
    check(slot == nullptr, label, ": labels the image ", quote(name), " twice");
    slot = &pair[1];
  }
  for (size_t i = 0; i < names.size(); ++i) {
    check(of_image[i] != nullptr, label, ": has no label for the image ", quote(names[i]));
  }
  return of_image;
}

int64_t class_number(const Json& value, const std::string& where) {
  check(value.is_number_integer(), where, " is not a class number, or not for all images");
  const auto number = value.get<int64_t>();
  check(number >= 0 && number < kMaxClasses,
        where,
        " is ",
        number,
        ", a class from 0 to ",
        kMaxClasses - 1,
        " is wanted");
  return number;
}

// Writes the `width` numbers of one label to `out`.
void put_vector(const Json& value, float* out, size_t width, const std::string& where) {
  check(value.is_array() && value.size() == width,
        where,
        " is not a list of ",
        width,
        " numbers, as that of the first image is");
  for (const Json& item : value) {
    check(item.is_number(), where, " holds something that is not a number");
    const auto number = item.get<double>();
    check(std::abs(number) <= std::numeric_limits<float>::max(),
          where,
          " holds ",
          number,
          ", which is beyond float32");
    *out++ = static_cast<float>(number);
  }
}

void put_vectors(ImageSource& source,
                 const std::vector<const Json*>& values,
                 const std::vector<std::string>& names,
                 const std::string& label) {
  const size_t width = values[0]->size();
  check(width > 0, label, ": the label of ", quote(names[0]), " is an empty list");
  source.label_dim = static_cast<int64_t>(width);
  source.labels = at::empty({static_cast<int64_t>(names.size()), source.label_dim}, at::kFloat);
  auto* rows = source.labels.data_ptr<float>();
  for (size_t i = 0; i < names.size(); ++i) {
    put_vector(*values[i], rows + i * width, width, label + ": the label of " + quote(names[i]));
  }
}

void put_classes(ImageSource& source,
                 const std::vector<const Json*>& values,
                 const std::vector<std::string>& names,
                 const std::string& label) {
  source.labels = at::empty({static_cast<int64_t>(names.size())}, at::kLong);
  auto* numbers = source.labels.data_ptr<int64_t>();
  for (size_t i = 0; i < names.size(); ++i) {
    numbers[i] = class_number(*values[i], label + ": the label of " + quote(names[i]));
  }
  source.label_dim = source.labels.max().item<int64_t>() + 1;
}

void labels_from_json(ImageSource& source,
                      const std::vector<std::string>& names,
                      const std::string& text) {
  const std::string label = source.name + ": dataset.json";
  const Json labels = parse_labels(text, label);
  if (labels.is_null()) return;
  const std::vector<const Json*> values = match(labels, names, label);
  if (values[0]->is_array()) return put_vectors(source, values, names, label);
  put_classes(source, values, names, label);
}

void labels_from_folders(ImageSource& source, const std::vector<std::string>& names) {
  std::set<std::string> folders;
  for (const auto& name : names) {
    const size_t slash = name.find('/');
    if (slash == std::string::npos) return;
    folders.insert(name.substr(0, slash));
  }
  if (folders.size() < 2) return;
  source.class_names.assign(folders.begin(), folders.end());
  source.label_dim = static_cast<int64_t>(folders.size());
  source.labels = at::empty({static_cast<int64_t>(names.size())}, at::kLong);
  auto* numbers = source.labels.data_ptr<int64_t>();
  const auto begin = source.class_names.begin();
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string folder = names[i].substr(0, names[i].find('/'));
    numbers[i] = std::lower_bound(begin, source.class_names.end(), folder) - begin;
  }
}

std::string describe_labels(const ImageSource& source) {
  if (!source.labels.defined()) return "no labels";
  if (source.labels.dim() == 1) return "class numbers";
  return "labels of " + std::to_string(source.label_dim) + " numbers";
}

}  // namespace

bool is_image_name(const std::string& name) {
  static const std::set<std::string> kEndings = {
      "png", "jpg", "jpeg", "jpe", "bmp", "gif", "tif", "tiff", "webp"};
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = name.substr(dot + 1);
  for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return kEndings.count(ending) > 0;
}

void check_labels_size(const std::string& source, uint64_t bytes, size_t images) {
  const uint64_t most = (uint64_t{64} << 20) + 1024 * uint64_t{images};
  check(bytes <= most,
        source,
        ": dataset.json has ",
        bytes,
        " bytes; at most ",
        most,
        " are read for ",
        images,
        " images");
}

void add_labels(ImageSource& source,
                const std::vector<std::string>& names,
                const std::string* json) {
  if (names.empty()) return;
  if (json != nullptr) return labels_from_json(source, names, *json);
  labels_from_folders(source, names);
}

JoinedLabels join_labels(const std::vector<ImageSource>& sources) {
  const ImageSource& first = sources.front();
  JoinedLabels joined{.class_names = first.class_names};
  std::vector<Tensor> labels;
  for (const ImageSource& source : sources) {
    const std::string here = describe_labels(source), there = describe_labels(first);
    check(here == there, source.name, " has ", here, ", but ", first.name, " has ", there);
    check(source.class_names.empty() || first.class_names.empty() ||
              source.class_names == first.class_names,
          source.name,
          ": its classes have other names than those of ",
          first.name);
    joined.label_dim = std::max(joined.label_dim, source.label_dim);
    labels.push_back(source.labels);
  }
  if (first.labels.defined()) joined.labels = at::cat(labels);
  return joined;
}

void refuse_labels(const std::vector<ImageSource>& sources) {
  for (const ImageSource& source : sources)
    check(!source.labels.defined() || !source.class_names.empty(),
          source.name,
          ": has a dataset.json with labels, which pictures of different sizes cannot have");
}

}  // namespace eps
