// ZIP archives of images in EDM's format, read and written.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "eps/base/json.h"
#include "eps/base/printable.h"
#include "eps/data/sources/source.h"
#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/io/zip.h"
#include "eps/io/zip_writer.h"

namespace eps {
namespace {

// An `Archive` holds the bytes of an archive in memory, and its images by name.
struct Archive {
  std::string path, bytes;
  std::vector<ZipEntry> images;

  std::string label(size_t i) const { return path + ": " + quote(images[i].name); }
  std::string bytes_of(size_t i) const { return entry_content(images[i], path); }
  Tensor read(size_t i) const {
    if (images[i].method != 0) return parse_image(bytes_of(i), label(i));
    return parse_image(stored_content(images[i], path), label(i));
  }
};

// Returns EDM's name of image i: a thousand images to a folder.
std::string entry_name(int64_t i) { return fmt::format("{:05}/img{:08}.png", i / 1000, i); }

std::string dataset_json(const Dataset& dataset) {
  if (!dataset.labels.defined()) return R"({"labels": null})";
  const Tensor labels = dataset.labels.cpu().contiguous();
  const bool is_class = labels.dim() == 1;
  Json list = Json::array();
  for (int64_t i = 0; i < dataset.size(); ++i) {
    Json label;
    if (is_class) {
      label = labels.data_ptr<int64_t>()[i];
    } else {
      const float* row = labels.data_ptr<float>() + i * dataset.label_dim;
      label = std::vector<float>(row, row + dataset.label_dim);
    }
    list.push_back(Json::array({entry_name(i), std::move(label)}));
  }
  return json_text({{"labels", std::move(list)}});
}

}  // namespace

ImageSource open_edm_zip(const std::string& path) {
  const auto archive = std::make_shared<Archive>();
  archive->path = path;
  archive->bytes = read_file(path);
  std::optional<ZipEntry> labels;
  for (ZipEntry& entry : read_zip(archive->bytes, path)) {
    if (entry.name == "dataset.json") {
      labels = std::move(entry);
    } else if (is_image_name(entry.name)) {
      archive->images.push_back(std::move(entry));
    }
  }
  std::sort(archive->images.begin(), archive->images.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  ImageSource source;
  source.name = path;
  for (size_t i = 0; i < archive->images.size(); ++i) {
    source.files.push_back(archive->images[i].name);
    source.image_names.push_back(archive->label(i));
  }
  if (labels) check_labels_size(path, labels->size, source.files.size());
  const std::string json = labels ? entry_content(*labels, path) : "";
  add_labels(source, source.files, labels ? &json : nullptr);
  source.read = [archive](size_t i) { return archive->read(i); };
  source.bytes = [archive](size_t i) { return archive->bytes_of(i); };
  return source;
}

void write_edm_zip(const std::string& path, const Dataset& dataset) {
  const Tensor& images = dataset.images;
  check(images.defined() && images.dim() == 4 && images.scalar_type() == at::kByte,
        path,
        ": uint8 images of N x C x H x W are wanted");
  check(images.size(2) == images.size(3),
        path,
        ": an EDM data set has square images, these are ",
        images.size(3),
        " x ",
        images.size(2),
        "; give a size to make them square");
  check(!dataset.labels.defined() || dataset.labels.size(0) == dataset.size(),
        path,
        ": as many labels as images are wanted");
  ZipWriter writer(path);
  constexpr int64_t kChunk = 1024;  // encoded in parallel, written in order
  for (int64_t first = 0; first < dataset.size(); first += kChunk) {
    const int64_t count = std::min(kChunk, dataset.size() - first);
    std::vector<std::string> encoded(static_cast<size_t>(count));
    at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        encoded[static_cast<size_t>(i)] = encode_png(images[first + i], path);
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      writer.add(entry_name(first + i), encoded[static_cast<size_t>(i)]);
    }
  }
  writer.add("dataset.json", dataset_json(dataset));
  writer.finish();
}

}  // namespace eps
