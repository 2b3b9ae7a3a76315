// The choice of a reader for each source, and checks of the options they share.
#include <filesystem>
#include <set>

#include "eps/data/sources/source.h"

namespace eps {
namespace {

constexpr int64_t kMaxSide = 8192;

void validate(const std::vector<std::string>& sources, const DatasetOptions& options) {
  check(!sources.empty(), "data set: at least one source is wanted");
  std::set<std::string> seen;
  for (const auto& source : sources) check(seen.insert(source).second, source, ": is given twice");
  check(options.size >= 0 && options.size <= kMaxSide,
        "data set: the size must be 0 to ",
        kMaxSide,
        ", got ",
        options.size);
  check(options.fit == "crop" || options.fit == "resize",
        "data set: fit is crop or resize, got ",
        options.fit);
  check(options.channels == 0 || options.channels == 1 || options.channels == 3,
        "data set: channels is 0, 1 or 3, got ",
        options.channels);
  check(options.limit >= 0, "data set: the limit must be at least 0, got ", options.limit);
}

bool is_synthetic(const std::string& source) {
  return source == "synthetic" || source.starts_with("synthetic:");
}

ImageSource open_source(const std::string& source, const DatasetOptions& options) {
  if (is_synthetic(source)) return open_synthetic(source, options);
  // Without a status the path is opened as a file, which throws the reason.
  std::error_code ignored;
  if (std::filesystem::is_directory(source, ignored)) return open_image_folder(source);
  return open_edm_zip(source);
}

}  // namespace

std::vector<ImageSource> open_sources(const std::vector<std::string>& sources,
                                      const DatasetOptions& options) {
  validate(sources, options);
  std::vector<ImageSource> opened;
  for (const auto& source : sources) {
    opened.push_back(open_source(source, options));
    check(!opened.back().image_names.empty(), source, ": holds no images (.png, .jpg, .jpeg)");
  }
  return opened;
}

std::string names_of(const std::vector<ImageSource>& sources) {
  std::string names;
  for (const ImageSource& source : sources) names += (names.empty() ? "" : ", ") + source.name;
  return names;
}

std::string names_of_sources(const std::vector<std::string>& sources) {
  std::string names;
  for (const auto& source : sources) {
    std::filesystem::path path = source;
    if (!path.has_filename()) path = path.parent_path();
    names += names.empty() ? "" : ", ";
    names += is_synthetic(source) ? source : path.filename().string();
  }
  return names;
}

}  // namespace eps
