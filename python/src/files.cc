// Pictures in files, and drawn for people.
#include "binding.h"
#include "eps/io/images/image.h"
#include "eps/io/images/picture.h"
#include "eps/report/sheet.h"

namespace eps::python {
namespace {

std::pair<Tensor, PictureFormat> read(const std::string& path) {
  const Picture picture = read_picture(path);
  return {picture.values(), picture.format};
}

void write(const std::string& path, const Tensor& image, const PictureFormat& format) {
  const Tensor x = plain_tensor("write_image", image, at::kCPU).detach();
  const bool good = x.dim() == 3 && (x.size(0) == 1 || x.size(0) == 3) && x.numel() > 0;
  check(good, "write_image: an image of 1 or 3 x H x W is wanted, got ", to_string(x.sizes()));
  check(at::isfinite(x).all().item<bool>(), "write_image: finite numbers are wanted");
  write_picture(path, x, format);
}

// Returns an image of 1 or 3 channels as bytes; [-1, 1] becomes 0 to 255.
Tensor drawn(const char* name, const Tensor& image) {
  const bool bytes =
      image.scalar_type() == at::kByte && image.layout() == at::kStrided && !image.is_nested();
  const Tensor x = bytes ? image.cpu() : plain_tensor(name, image, image.device()).detach().cpu();
  check(x.dim() == 3 && (x.size(0) == 1 || x.size(0) == 3) && x.numel() > 0,
        name,
        ": an image of 1 or 3 x H x W is wanted, got ",
        to_string(x.sizes()));
  return bytes ? x.contiguous() : to_uint8(x.to(at::kDouble));
}

using LabelledImages = std::vector<std::pair<std::string, std::vector<Tensor>>>;

Tensor sheet(const std::vector<std::string>& columns, const LabelledImages& rows, int64_t magnify) {
  constexpr int64_t kMost = 64;
  check(magnify >= 1 && magnify <= kMost, "sheet: magnify is 1 to ", kMost, ", got ", magnify);
  check(!rows.empty(), "sheet: a row of images is wanted");
  report::Sheet drawing{.columns = columns, .rows = {}};
  for (const auto& [label, images] : rows) {
    check(images.size() == columns.size() && !columns.empty(),
          "sheet: ",
          columns.size(),
          " columns and ",
          images.size(),
          " images");
    report::SheetRow row{.label = label, .cells = {}};
    for (const Tensor& image : images) row.cells.push_back(drawn("sheet", image));
    drawing.rows.push_back(std::move(row));
  }
  return report::draw_sheet(drawing, magnify);
}

}  // namespace

void bind_files(py::module_& m) {
  m.def("read_image", &read, Release());
  m.def("write_image", &write, Release());
  m.def("sheet", &sheet, Release());
  m.def("png",
        [](const Tensor& image) { return py::bytes(encode_png(drawn("png", image), "png")); });
}

}  // namespace eps::python
