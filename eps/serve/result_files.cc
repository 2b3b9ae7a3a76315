// The files of a restoration: pictures, arrays, all of them as a ZIP, and what is said of a pixel.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/io/images/image_codecs.h"
#include "eps/io/images/picture.h"
#include "eps/io/npy_header.h"
#include "eps/io/zip_writer.h"
#include "eps/operators/parameter_file.h"
#include "eps/serve/endpoints.h"

namespace eps::serve {
namespace {

constexpr const char *kImage = "image.png", *kMask = "mask.png";

// A `MappedFile` has the bytes of a file without a copy of them.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || ::fstat(file, &status) != 0) throw Refusal{404, "there is no such file"};
    size_ = static_cast<size_t>(status.st_size);
    if (size_ > 0) start_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    check(size_ == 0 || start_ != MAP_FAILED, path, ": cannot be read");
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (size_ > 0) ::munmap(start_, size_);
  }
  std::string_view bytes() const { return {static_cast<const char*>(start_), size_}; }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

void check_done(const Job& job) {
  const JobState state = job.status().state;
  if (state != JobState::done)
    throw Refusal{409, "the restoration is " + to_string(state) + ", not done"};
}

std::string type_of_result(const std::string& name) {
  if (name.ends_with(".png")) return "image/png";
  if (name.ends_with(".json")) return "application/json";
  return "application/octet-stream";
}

std::vector<std::string> stored_names(const Job& job) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(job.request.result(), error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Answer png_answer(const Tensor& picture) {
  return {.type = "image/png",
          .body = encode_png(picture, "the picture"),
          .headers = {{"Cache-Control", "no-store"}}};
}

// Returns the picture as it was given: upright, in 8 bits.
Tensor given_pixels(const JobRequest& request) {
  if (!is_array_path(request.picture)) return to_uint8(read_picture(request.picture).values());
  Tensor values = read_array(request.picture);
  while (values.dim() > 3) values = values[0];
  const bool is_picture =
      (values.dim() == 2 || values.size(0) == 1 || values.size(0) == 3) && !values.is_complex();
  if (!is_picture) throw Refusal{404, "the array is no picture"};
  return values.scalar_type() == at::kByte ? values : to_uint8(values);
}

Tensor mask_pixels(const JobRequest& request) {
  const Tensor like = at::zeros({1, 1, request.height, request.width});
  return (read_mask_file(request.restoration.operator_options.mask, like)[0] * 255).to(at::kByte);
}

int64_t coordinate(const Request& request, const char* name, int64_t size) {
  const std::string text = request.value(name);
  int64_t value = -1;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stop != text.data() + text.size() || value < 0 || value >= size)
    throw Refusal{
        400, std::string(name) + " must be a whole number from 0 to " + std::to_string(size - 1)};
  return value;
}

// Returns the values at a pixel, (..., C) of an array (..., C, H, W) of float32 in a file, of which
// no more is read.
Tensor values_at(const std::string& path, int64_t x, int64_t y) {
  const MappedFile file(path);
  std::string_view data = file.bytes();
  const NpyHeader header = take_npy_header(data, path);
  const int64_t width = header.shape.back(), height = header.shape.end()[-2];
  const int64_t planes = static_cast<int64_t>(data.size()) / (4 * width * height);
  const Tensor values = at::empty({planes}, at::kFloat);
  for (int64_t k = 0; k < planes; ++k)
    std::memcpy(values.data_ptr<float>() + k,
                data.data() + 4 * ((k * height + y) * width + x),
                sizeof(float));
  return values.to(at::kDouble).reshape(Shape(header.shape.begin(), header.shape.end() - 2));
}

Json grey_json(const Tensor& values) {
  const Tensor grey = (values.contiguous() + 1) * 127.5;
  return std::vector<double>(grey.data_ptr<double>(), grey.data_ptr<double>() + grey.numel());
}

}  // namespace

std::vector<std::string> result_names(const Job& job) {
  std::vector<std::string> names;
  if (job.status().state == JobState::done) names = stored_names(job);
  names.emplace_back(kImage);
  if (!job.request.restoration.operator_options.mask.empty()) names.emplace_back(kMask);
  return names;
}

Answer running_mean(Site& site, const Request& request) {
  const auto job = job_of(site, request);
  Preview preview = job->preview();
  if (!preview.picture.defined()) throw Refusal{404, "there is no running mean yet"};
  if (!preview.png) {
    const auto bench = site.bench.take();
    preview = job->preview();  // another client may have been here
    if (!preview.png) {
      preview.png = std::make_shared<const std::string>(
          encode_png_pixels(preview.picture, {}, "the running mean", /*quick=*/true));
      job->set_preview(preview);
    }
  }
  return {.type = "image/png",
          .body = *preview.png,
          .headers = {{"Cache-Control", "no-store"},
                      {"X-Eps-Evaluation", std::to_string(preview.evaluation)}}};
}

Answer result_file(Site& site, const Request& request) {
  const auto job = job_of(site, request);
  const std::string& name = request.path.at(4);
  const auto names = result_names(*job);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    if (!is_finished(job->status().state)) check_done(*job);
    throw Refusal{404, "there is no such file"};
  }
  const auto stored = stored_names(*job);
  if (std::find(stored.begin(), stored.end(), name) != stored.end())
    return {.type = type_of_result(name),
            .headers = {{"Cache-Control", "private, max-age=3600"}},
            .file = job->request.result() + "/" + name};
  const auto bench = site.bench.take();
  return png_answer(name == kMask ? mask_pixels(job->request) : given_pixels(job->request));
}

Answer result_zip(Site& site, const Request& request) {
  const auto job = job_of(site, request);
  check_done(*job);
  const std::string path = job->request.folder + "/result.zip";
  const auto bench = site.bench.take();
  if (!std::filesystem::exists(path)) {
    ZipWriter zip(path);
    for (const std::string& name : stored_names(*job))
      zip.add(name, MappedFile(job->request.result() + "/" + name).bytes());
    zip.finish();
  }
  const std::string stem = std::filesystem::path(job->request.picture).stem().string();
  std::string safe;
  for (const char c : stem)
    safe += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
  return {
      .type = "application/zip",
      .headers = {{"Content-Disposition", "attachment; filename=\"" + safe + "-restored.zip\""}},
      .file = path};
}

Answer pixel(Site& site, const Request& request) {
  const auto job = job_of(site, request);
  check_done(*job);
  const std::string& own = job->request.folder;
  const bool has_arrays = std::filesystem::exists(job->request.result() + "/mean.npy");
  const std::string folder = has_arrays ? job->request.result() : own + "/arrays";
  const MappedFile file(folder + "/mean.npy");
  std::string_view data = file.bytes();
  const NpyHeader header = take_npy_header(data, "mean.npy");
  const int64_t x = coordinate(request, "x", header.shape.at(2));
  const int64_t y = coordinate(request, "y", header.shape.at(1));
  const Tensor mean = values_at(folder + "/mean.npy", x, y);
  const bool has_samples = std::filesystem::exists(folder + "/samples.npy");
  const bool is_spread = std::filesystem::exists(folder + "/deviation.npy");
  const Tensor samples = has_samples ? values_at(folder + "/samples.npy", x, y) : mean.unsqueeze(0);
  Tensor deviation, interval;
  if (is_spread) {
    deviation = values_at(folder + "/deviation.npy", x, y);
    interval = values_at(folder + "/interval.npy", x, y);
  }
  const auto grey = [](const Tensor& value) { return Json((value.item<double>() + 1) * 127.5); };
  Json channels = Json::array();
  for (int64_t c = 0; c < mean.size(0); ++c)
    channels.push_back(
        {{"samples", grey_json(samples.select(1, c))},
         {"mean", grey(mean[c])},
         {"deviation", is_spread ? Json(deviation[c].item<double>() * 127.5) : Json()},
         {"low", is_spread ? grey(interval[0][c]) : Json()},
         {"high", is_spread ? grey(interval[1][c]) : Json()}});
  return json_answer({{"channels", channels}});
}

}  // namespace eps::serve
