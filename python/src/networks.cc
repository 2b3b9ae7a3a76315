// Networks for Python: loading, evaluation, tensors; and denoisers written in Python.
#include "networks.h"

#include <cmath>

#include "eps/io/torch/any_checkpoint.h"
#include "eps/model/bundled.h"
#include "eps/runtime/device.h"
#include "queries.h"

namespace eps::python {
namespace {

using Network = std::shared_ptr<BoundNetwork>;

class PythonDenoiser final : public Denoiser {
 public:
  PythonDenoiser(const py::object& function, NetworkInput input, Range sigma)
      : function_(hold(function)), input_(std::move(input)), sigma_(sigma) {}

  Tensor mean(const Query& query) const override {
    if (input_.geometry == Geometry::pivot && !query.A) return mean(unmeasured_(input_, query));
    Tensor answer;
    {
      const py::gil_scoped_acquire gil;
      const py::object result = input_ == NetworkInput::prior
                                    ? (*function_)(query.x.to(at::kFloat), sigma_of(query))
                                    : (*function_)(BoundQuery::of(query, input_));
      if (!THPVariable_Check(result.ptr()))
        fail("denoiser: a tensor must be returned, got ", Py_TYPE(result.ptr())->tp_name);
      answer = result.cast<Tensor>();
    }
    check(answer.sizes() == query.x.sizes() && answer.is_floating_point(),
          "denoiser: real images of ",
          to_string(query.x.sizes()),
          " must be returned, got ",
          answer.dtype().name(),
          " of ",
          to_string(answer.sizes()));
    check(!is_recorded(query.x) || answer.requires_grad(),
          "denoiser: this method differentiates it, and what it returned has no derivatives");
    return answer.to(query.x.device());
  }
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
    if (!serves(input_, method)) return {};
    return method.conditional() ? input_ : NetworkInput::prior;
  }
  double sigma_min() const override { return sigma_.low; }
  double sigma_max() const override { return sigma_.high; }
  Tensor levels(const Tensor& sigma) const override {
    const Tensor inside = at::where(sigma > 0, sigma.clamp(sigma_.low, sigma_.high), sigma);
    return std::get<0>(at::unique_consecutive(inside));
  }

 private:
  static Tensor sigma_of(const Query& query) {
    const Tensor sigma = query.sigma.to(query.x.device(), at::kFloat).reshape({-1, 1, 1, 1});
    return sigma.expand({query.x.size(0), 1, 1, 1});
  }

  const UnmeasuredQueries unmeasured_;
  Held function_;
  NetworkInput input_;
  Range sigma_;
};

at::ScalarType computed_in(const std::string& dtype, at::Device device, at::ScalarType on_gpu) {
  if (dtype == "auto") return device.is_cuda() ? on_gpu : at::kFloat;
  if (dtype == "float32") return at::kFloat;
  if (dtype == "float64") return at::kDouble;
  if (dtype == "bfloat16") return at::kBFloat16;
  check(dtype == "float16", "dtype: auto, float32, float64, bfloat16 or float16, got ", dtype);
  return at::kHalf;
}

Network placed(const std::string& name,
               Checkpoint model,
               const std::string& on,
               const std::string& dtype) {
  const at::Device device = parse_device(on);
  if (device.is_cuda()) prepare_device(device);
  model.network.to(device, computed_in(dtype, device, model.gpu_arithmetic));
  model.preconditioning = model.preconditioning.on(device);
  return std::make_shared<BoundNetwork>(name, std::move(model));
}

Network load(const std::string& name, const std::string& on, const std::string& dtype) {
  return placed(name, load_network(find_model(name)), on, dtype);
}

using Strings = std::map<std::string, std::string>;

// Makes a network of tensors with the names of a checkpoint's, and its metadata.
Network from_tensors(const std::map<std::string, Tensor>& tensors,
                     const Strings& metadata,
                     const std::string& name,
                     const std::string& on,
                     const std::string& dtype) {
  Safetensors file;
  for (const auto& [key, tensor] : tensors) file.tensors[key] = host_copy(tensor.detach());
  file.metadata = metadata;
  return placed(name, checkpoint_from(file, name), on, dtype);
}

Tensor denoise(const BoundNetwork& self,
               const Tensor& x,
               const Tensor& sigma,
               const py::object& labels) {
  const int64_t classes = self.checkpoint.network.config().label_dim;
  check(self.denoiser->input_for(NetworkInput::prior).has_value(),
        self.name,
        ": a network for the input ",
        to_string(self.input),
        " answers queries of a measurement: eps.query(...)");
  Tensor classes_of;
  if (!labels.is_none()) {
    check(THPVariable_Check(labels.ptr()), "labels: a tensor is wanted");
    classes_of = plain_tensor("labels", labels.cast<Tensor>(), self.device);
    check(classes > 0, self.name, ": takes no class labels");
    check(classes_of.dim() == 2 && classes_of.size(1) == classes &&
              (classes_of.size(0) == 1 || classes_of.size(0) == x.size(0)),
          "labels: N x ",
          classes,
          " is wanted, got ",
          to_string(classes_of.sizes()));
  }
  const py::gil_scoped_release released;
  const Tensor images = plain_tensor("x", x, self.device);
  check(x.dim() == 4 && x.size(0) >= 1 && x.size(1) == self.channels,
        "x: N x ",
        self.channels,
        " x H x W is wanted, got ",
        to_string(x.sizes()));
  Query query{images, level("sigma", sigma, images, false)};
  query.labels = classes_of;
  return self.denoiser->mean(query).to(x.scalar_type());
}

}  // namespace

BoundNetwork::BoundNetwork(std::string of, Checkpoint model)
    : name(std::move(of)), checkpoint(std::move(model)) {
  denoiser = std::make_shared<NetworkDenoiser>(checkpoint);
  input = checkpoint.input;
  const nets::UNetConfig& config = checkpoint.network.config();
  channels = config.img_channels;
  resolution = config.is_local() ? 0 : config.img_resolution;
  device = checkpoint.network.device();
}

std::shared_ptr<BoundDenoiser> python_denoiser(const py::object& function,
                                               const std::string& input,
                                               double sigma_min,
                                               double sigma_max,
                                               int64_t channels,
                                               const std::string& on) {
  check(PyCallable_Check(function.ptr()) != 0, "denoiser: a function is wanted");
  check(sigma_min >= 0 && sigma_max > sigma_min,
        "denoiser: noise levels 0 <= sigma_min < sigma_max are wanted, got ",
        sigma_min,
        " and ",
        sigma_max);
  check(channels >= 0, "denoiser: channels must be >= 0, got ", channels);
  auto bound = std::make_shared<BoundDenoiser>();
  bound->input = parse_input(input);
  check(!bound->input.is_bridge(), "denoiser: bridges are networks of the library only");
  bound->denoiser =
      std::make_shared<PythonDenoiser>(function, bound->input, Range{sigma_min, sigma_max});
  bound->channels = channels;
  bound->device = parse_device(on);
  return bound;
}

void bind_networks(py::module_& m) {
  py::class_<BoundDenoiser, std::shared_ptr<BoundDenoiser>>(m, "Denoiser")
      .def_property_readonly("input", [](const BoundDenoiser& d) { return to_string(d.input); })
      .def_property_readonly("device", [](const BoundDenoiser& d) { return d.device.str(); })
      .def_property_readonly("sigma_min",
                             [](const BoundDenoiser& d) { return d.denoiser->sigma_min(); })
      .def_property_readonly("sigma_max",
                             [](const BoundDenoiser& d) { return d.denoiser->sigma_max(); })
      .def_readonly("channels", &BoundDenoiser::channels)
      .def_readonly("resolution", &BoundDenoiser::resolution);
  py::class_<BoundNetwork, BoundDenoiser, Network>(m, "Network")
      .def_readonly("name", &BoundNetwork::name)
      .def("denoise", &denoise)
      .def_property_readonly(
          "metadata", [](const BoundNetwork& n) { return to_safetensors(n.checkpoint).metadata; })
      .def(
          "tensors",
          [](const BoundNetwork& n) { return to_safetensors(n.checkpoint).tensors; },
          Release())
      .def(
          "save",
          [](const BoundNetwork& n, const std::string& path) {
            write_checkpoint(path, n.checkpoint);
          },
          Release());
  m.def("load", &load, Release());
  m.def("network_from_tensors", &from_tensors, Release());
  m.def("python_denoiser", &python_denoiser);
  m.def("model_names", &model_names);
  m.def("find_model", &find_model);
  m.def("photos_network", [](const std::string& device, bool large_on_cpu) {
    return photos_network(parse_device(device), large_on_cpu);
  });
  m.def("find_in_models", &find_in_models);
}

}  // namespace eps::python
