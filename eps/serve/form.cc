// What a client sends with a request.
#include "eps/serve/form.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "eps/base/json_fields.h"
#include "eps/io/array.h"
#include "eps/io/file.h"
#include "eps/io/images/picture.h"
#include "eps/io/images/picture_size.h"
#include "eps/model/bundled.h"

namespace eps::serve {
namespace {

constexpr const char *kPhotos = "photos-images", *kFaces = "faces64-images", *kFace = "face-";

// Returns the stems of the pictures in a models folder, sorted.
std::vector<std::string> pictures_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(find_in_models(folder), error))
      if (entry.path().extension() == ".png") names.push_back(entry.path().stem().string());
  } catch (const Error&) {
    // They do not come with every installation.
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns a name for the file of a part: readers choose by its extension between arrays and
// pictures.
std::string file_name_of(const Part& part) {
  if (part.file_name.empty() || part.file_name.starts_with('.') || part.file_name.starts_with('-'))
    return part.name + (part.content.starts_with("\x93NUMPY") ? ".npy" : ".png");
  return part.file_name;
}

void check_pixels(const Site& site, int64_t width, int64_t height) {
  if (width > site.limits.pixels / std::max<int64_t>(height, 1))
    throw Refusal{413,
                  "a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                      " pixels; at most " + std::to_string(site.limits.pixels) + " are taken"};
}

// Returns width and height of a picture or an array; 0 of what is no picture.
std::pair<int64_t, int64_t> size_of(const std::string& path) {
  if (!is_array_path(path)) {
    const Tensor pixels = read_picture(path).pixels;
    return {pixels.size(2), pixels.size(1)};
  }
  const Tensor values = read_array(path);
  if (values.dim() < 2) return {0, 0};
  const bool is_image = values.dim() <= 4;
  return is_image ? std::pair(values.size(-1), values.size(-2)) : std::pair<int64_t, int64_t>(0, 0);
}

}  // namespace

const Part* Form::find(const std::string& name) const {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

std::unique_ptr<Form> read_form(const Request& request, const std::vector<std::string>& names) {
  const std::string boundary = boundary_of(request.content_type);
  check(!boundary.empty(), "the form: Content-Type multipart/form-data is wanted");
  auto form = std::make_unique<Form>();
  form->body = request.read_body();
  form->parts = parse_multipart(form->body, boundary);
  for (const Part& part : form->parts)
    check(part.name == "options" || std::find(names.begin(), names.end(), part.name) != names.end(),
          "the form: unknown part ",
          quote(part.name));
  const Part* options = form->find("options");
  form->options = options == nullptr
                      ? Json::object()
                      : parse_json(options->content, "options", {.depth = 4, .fields = 64});
  check(form->options.is_object(), "options: a JSON object is wanted");
  return form;
}

Upload::Upload(const Site& site)
    : site_(site), folder_(site.folder.path() + "/" + random_digits(kFolderBytes)) {
  std::filesystem::create_directory(folder_);
}

Upload::~Upload() {
  if (!kept_) remove_tree(folder_);
}

std::string Upload::save(const Form& form, const std::string& name) const {
  const Part* part = form.find(name);
  if (part == nullptr) return "";
  check(!part->content.empty(), name, ": the file is empty");
  if (const auto stored = stored_picture_size(part->content))
    check_pixels(site_, stored->first, stored->second);
  const std::string own = folder_ + "/" + name;
  std::filesystem::create_directory(own);
  const std::string path = own + "/" + file_name_of(*part);
  write_file_atomically(path, part->content);
  return path;
}

GivenPicture given_picture(const Site& site, const Form& form, const Upload& upload) {
  const auto demo = form.options.find("demo");
  GivenPicture picture;
  if (demo != form.options.end() && !demo->is_null()) {
    check(demo->is_string(), "options: demo must be text");
    check(form.find("image") == nullptr, "options: demo or an image is wanted, not both");
    picture.path = demo_picture(*demo);
    check(!picture.path.empty(), "options: demo ", quote(demo->get<std::string>()), " is unknown");
    picture.name = std::filesystem::proximate(picture.path).string();
  } else {
    picture.path = upload.save(form, "image");
    check(!picture.path.empty(), "the form: the file image is wanted, or options.demo");
    picture.name = std::filesystem::path(picture.path).filename().string();
  }
  std::tie(picture.width, picture.height) = size_of(picture.path);
  check_pixels(site, picture.width, picture.height);
  return picture;
}

std::vector<std::string> demo_names() {
  std::vector<std::string> names = pictures_in(kPhotos);
  for (const std::string& name : pictures_in(kFaces)) names.push_back(kFace + name);
  return names;
}

std::string demo_picture(const std::string& name) {
  const auto names = demo_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return "";
  return name.starts_with(kFace)
             ? find_in_models(std::string(kFaces) + "/" + name.substr(5) + ".png")
             : find_in_models(std::string(kPhotos) + "/" + name + ".png");
}

}  // namespace eps::serve
