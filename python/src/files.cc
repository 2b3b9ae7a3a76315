// Pictures and tensors in files.
#include "binding.h"
#include "eps/io/images/picture.h"
#include "eps/io/safetensors.h"

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

}  // namespace

void bind_files(py::module_& m) {
  m.def("read_image", &read, Release());
  m.def("write_image", &write, Release());
  m.def(
      "write_safetensors",
      [](const std::string& path,
         const std::map<std::string, Tensor>& tensors,
         const std::map<std::string, std::string>& metadata) {
        Safetensors file;
        for (const auto& [name, tensor] : tensors)
          file.tensors[name] = tensor.detach().cpu().contiguous();
        file.metadata = metadata;
        write_safetensors(path, file);
      },
      Release());
  m.def(
      "read_safetensors",
      [](const std::string& path) {
        const Safetensors file = read_safetensors(path);
        return std::pair{file.tensors, file.metadata};
      },
      Release());
}

}  // namespace eps::python
