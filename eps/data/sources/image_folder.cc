// A folder of images, with all folders below it.
#include <algorithm>
#include <filesystem>

#include "eps/data/sources/source.h"
#include "eps/io/file.h"
#include "eps/io/images/image.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

// Adds the images in `root`/`below` to `names`, relative to `root`. Skips hidden files and folders,
// where editors keep copies. Follows links; a link to a folder above is an error.
void list_images(const fs::path& root, const std::string& below, std::vector<std::string>& names) {
  std::error_code error;
  fs::directory_iterator entry(root / below, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (file.starts_with('.')) continue;
    std::error_code looking;  // a link to a missing file is an image that cannot be read
    const bool is_folder = entry->is_directory(looking);
    check(!looking || looking == std::errc::no_such_file_or_directory,
          entry->path().string(),
          ": cannot be examined: ",
          looking.message());
    if (is_folder) {
      list_images(root, below + file + "/", names);
    } else if (is_image_name(file)) {
      names.push_back(below + file);
    }
  }
  check(!error, (root / below).string(), ": cannot list the folder: ", error.message());
}

}  // namespace

ImageSource open_image_folder(const std::string& path) {
  ImageSource source;
  source.name = path;
  std::vector<std::string> names;
  list_images(path, "", names);
  std::sort(names.begin(), names.end());
  for (const auto& name : names) source.image_names.push_back((fs::path(path) / name).string());
  const std::string json_path = (fs::path(path) / "dataset.json").string();
  if (fs::exists(json_path)) {
    std::error_code unknown;  // no size, as for a pipe
    const auto bytes = fs::file_size(json_path, unknown);
    if (!unknown) check_labels_size(path, bytes, names.size());
    const std::string json = read_file(json_path);
    add_labels(source, names, &json);
  } else {
    add_labels(source, names, nullptr);
  }
  source.read = [paths = source.image_names](size_t i) { return read_image(paths[i]); };
  source.bytes = [paths = source.image_names](size_t i) { return read_file(paths[i]); };
  source.files = std::move(names);
  return source;
}

}  // namespace eps
