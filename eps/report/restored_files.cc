// The files of a restoration.
#include "eps/report/restored_files.h"

#include <ATen/Parallel.h>

#include <atomic>

#include "eps/io/array.h"
#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/io/images/picture.h"
#include "eps/io/images/resize.h"
#include "eps/io/new_folder.h"
#include "eps/report/sheet.h"

namespace eps::report {
namespace {

Tensor measurement_picture(const RestorationResult& r) {
  const Measurement& m = r.measurement;
  const Tensor picture = m.problem.A->format().picture(m.problem.y)[0].to(at::kCPU);
  return m.shown ? m.shown->of(picture).contiguous() : picture;
}

// Returns the deviation as a picture: black is certain, white the most uncertain pixel.
Tensor deviation_picture(const Restoration& r) {
  const Tensor deviation = r.deviation.mean(0);
  return heat_map(deviation, deviation.max().item<double>());
}

// Returns a picture for the sheet: the first window of restored holes, reduced to a cell.
Tensor for_sheet(const Tensor& picture, const RestorationReport& report) {
  constexpr int64_t kMost = 320;
  const Tensor part = report.windows.empty() ? picture : report.windows[0].of(picture).contiguous();
  const int64_t height = part.size(1), width = part.size(2), side = std::max(height, width);
  if (side <= kMost) return part;
  return resize_lanczos(part,
                        std::max<int64_t>(height * kMost / side, 1),
                        std::max<int64_t>(width * kMost / side, 1));
}

// Returns the cells of a row with their names.
std::vector<std::pair<std::string, Tensor>> cells(const RestorationResult& result) {
  constexpr int64_t kMostSamples = 4;
  const Restoration& r = result.restoration;
  std::vector<std::pair<std::string, Tensor>> all;
  const auto add = [&](const std::string& name, const Tensor& picture) {
    const bool drawn = picture.scalar_type() == at::kByte;
    all.emplace_back(name, for_sheet(drawn ? picture : to_uint8(picture), result.report));
  };
  if (result.measurement.truth.defined()) add("image", result.measurement.truth[0]);
  add("measurement", measurement_picture(result));
  for (int64_t k = 0; k < std::min(r.samples.size(0), kMostSamples); ++k)
    add(result.report.quick ? "mean" : "sample " + std::to_string(k + 1), r.samples[k]);
  if (r.deviation.defined()) {
    add("mean", r.mean);
    add("deviation", deviation_picture(r));
    add("low 5%", r.low);
    add("high 95%", r.high);
  }
  return all;
}

// `Files` are written each by one thread: to compress a picture takes longer than to make it.
using Files = std::vector<std::function<void()>>;
void write_together(const Files& files) {
  std::atomic<size_t> next{0};
  at::parallel_for(0, at::get_num_threads(), 1, [&](int64_t, int64_t) {
    for (size_t file; (file = next++) < files.size();) files[file]();
  });
}

}  // namespace

Tensor restored_sheet(const std::vector<std::pair<std::string, RestorationResult>>& rows) {
  constexpr int64_t kCell = 128;
  Sheet sheet;
  for (const auto& [label, result] : rows) {
    sheet.columns.clear();
    sheet.rows.push_back({label, {}});
    for (const auto& [name, picture] : cells(result)) {
      sheet.columns.push_back(name);
      sheet.rows.back().cells.push_back(picture);
    }
  }
  const Tensor& cell = sheet.rows.at(0).cells.at(0);
  const int64_t side = std::max(cell.size(1), cell.size(2));
  return draw_sheet(sheet, std::max<int64_t>(1, kCell / side));
}

void write_restored(const std::string& folder, const RestorationResult& result, bool all_arrays) {
  NewFolder out(folder);
  Files files;
  const bool writes_arrays =
      all_arrays || result.restoration.mean[0].numel() <= kMostPixelsOfArrays;
  const auto array = [&](const std::string& name, const Tensor& values) {
    if (writes_arrays)
      files.push_back([path = out.file(name + ".npy"), values] {
        write_array(path, values.to(at::kCPU, at::kFloat));
      });
  };
  const auto picture = [&](const std::string& name, const Tensor& image) {
    files.push_back([path = out.file(name + ".png"), image, &result] {
      write_picture(path, image, result.measurement.format);
    });
  };
  const auto drawing = [&](const std::string& name, const std::function<Tensor()>& draw) {
    files.push_back([path = out.file(name + ".png"), draw] { write_png(path, draw()); });
  };
  const Restoration& r = result.restoration;
  drawing("sheet", [&] { return restored_sheet({{"", result}}); });  // it takes the longest
  if (!result.report.quick) {
    for (int64_t k = 0; k < r.samples.size(0); ++k)
      picture("sample-" + std::to_string(k + 1), r.samples[k]);
    array("samples", r.samples);
  }
  picture("mean", r.mean);
  array("mean", r.mean);
  picture("measurement", measurement_picture(result));
  array("measurement", result.measurement.problem.y[0]);
  if (r.deviation.defined()) {
    drawing("deviation", [&] { return deviation_picture(r); });
    array("deviation", r.deviation);
    picture("low", r.low);
    picture("high", r.high);
    array("interval", at::stack({r.low, r.high}));
  }
  for (const auto& [name, value] : result.measurement.problem.A->format().parameters())
    array(name, value[0]);
  write_together(files);
  write_file_atomically(out.file("restore.json"), to_json(result.report));
  out.commit();
}

}  // namespace eps::report
