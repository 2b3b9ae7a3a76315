// eps restore for Python: the same code, of files or arrays.
#include <cmath>

#include "eps/io/new_folder.h"
#include "eps/report/restored_files.h"
#include "networks.h"
#include "python_operator.h"
#include "restorations.h"

namespace eps::python {
namespace {

// Takes the options of a restoration from Python's keyword arguments, which are complete.
struct Keywords {
  const py::dict& given;

  template <class Value>
  Value get(const char* name) const {
    try {
      return py::cast<Value>(given[name]);
    } catch (const py::cast_error&) {
      fail("restore: ",
           name,
           " is of a wrong type, ",
           std::string(py::str(py::type::of(given[name]))));
    }
  }
};

// Returns a tensor in memory; undefined where a file or nothing is given.
Tensor values_in(const Keywords& k, const char* name) {
  const auto values = k.get<std::optional<Tensor>>(name);
  if (!values) return {};
  check(values->layout() == at::kStrided && !values->is_quantized() && !values->is_nested() &&
            !values->is_complex(),
        name,
        ": a dense tensor of real numbers is wanted");
  return values->detach().cpu();
}

OperatorOptions operator_options(const Keywords& k) {
  return {.mask = k.get<std::string>("mask"),
          .kernel = k.get<std::string>("kernel"),
          .flip_kernel = k.get<bool>("flip_kernel"),
          .motion = k.get<std::string>("motion"),
          .gaussian = k.get<std::string>("gaussian"),
          .disk = k.get<std::string>("defocus"),
          .bayer = k.get<std::string>("bayer"),
          .denoise = k.get<bool>("denoise"),
          .border = k.get<std::string>("border"),
          .downscale = k.get<std::string>("downscale"),
          .spec = k.get<std::string>("spec"),
          .centred = k.get<bool>("centred"),
          .mask_values = values_in(k, "mask_values"),
          .kernel_values = values_in(k, "kernel_values")};
}

RestorationRequest request_of(const Keywords& k) {
  using Region = RestorationRequest::Region;
  RestorationRequest request;
  request.operator_options = operator_options(k);
  request.simulate = k.get<bool>("simulate");
  request.noise.map = k.get<std::string>("noise_map");
  request.noise.spectrum = k.get<std::string>("noise_spectrum");
  request.noise.growth = k.get<std::optional<double>>("noise_growth");
  const auto noise = k.get<std::vector<double>>("noise");
  for (const double sigma_y : noise)
    check(sigma_y > 0 && std::isfinite(sigma_y), "restore: noise must be > 0, got ", sigma_y);
  check(noise.size() <= 1 || !request.noise.growth,
        "restore: one deviation, that of black, is wanted with noise_growth");
  if (noise.size() == 1) request.sigma_y = noise[0];
  if (noise.size() > 1) request.noise.channels = noise;
  request.method = k.get<std::string>("method");
  request.steps = k.get<int64_t>("steps");
  request.options.samples = k.get<int64_t>("samples");
  request.options.batch = k.get<int64_t>("batch");
  request.options.seed = k.get<uint64_t>("seed");
  const auto region = k.get<std::string>("region");
  check(region == "auto" || region == "holes" || region == "whole",
        "restore: region is auto, holes or whole, got ",
        region);
  if (region != "auto") request.region = region == "holes" ? Region::holes : Region::whole;
  request.quick = k.get<bool>("quick");
  for (const auto& [name, value] : {std::pair{"samples", request.options.samples},
                                    {"steps", request.steps},
                                    {"batch", request.options.batch}})
    check(
        value >= 0 && value <= 1000000, "restore: ", name, " must be at most 1000000, got ", value);
  return request;
}

// Restores the file `path`, or the array y, which the operator A made or the options name.
RestorationResult run(const std::shared_ptr<BoundNetwork>& network,
                      const std::string& path,
                      const std::optional<Tensor>& y,
                      const std::shared_ptr<BoundOperator>& A,
                      const py::dict& options,
                      const py::object& report) {
  RestorationRequest request = request_of({options});
  Watch watch(report);
  const py::gil_scoped_release released;
  request.network = network->name;
  request.on_stage = [&](const std::string& name, int64_t total) { watch.start(name, total); };
  request.options.on_evaluation = [&](int64_t images) { watch.advance(images); };
  request.input = path;
  if (!y && !A) return restore_measurement(request, network->checkpoint);
  check(!request.simulate, "restore: simulate is for the file of a clean image");
  check(!A || A->device == network->device,
        "restore: the operator is on ",
        A ? A->device : network->device,
        ", the network on ",
        network->device);
  check_restores(network->checkpoint, network->name, request.method);
  const NetworkShape shape = shape_of(network->checkpoint, network->name);
  const OperatorChoice chosen =
      A ? A->choice() : choose_operator(request.operator_options, shape.resolution);
  if (y) {
    request.input = "y";
    check(y->layout() == at::kStrided && !y->is_quantized() && !y->is_nested() && y->dim() >= 1,
          "y: a dense tensor is wanted");
    const Measurement measured = measurement_of(y->detach(), "y", chosen, shape);
    return restore_measurement(measured, chosen, request, network->checkpoint);
  }
  return restore_measurement(
      read_measurement(path, chosen, shape), chosen, request, network->checkpoint);
}

}  // namespace

py::dict to_python(RestorationResult found) {
  const Restoration& r = found.restoration;
  py::dict result;
  result["samples"] = r.samples;
  result["mean"] = r.mean;
  if (r.deviation.defined()) {
    result["deviation"] = r.deviation;
    result["interval"] = at::stack({r.low, r.high});
  }
  if (found.measurement.truth.defined()) result["truth"] = found.measurement.truth;
  result["y"] = found.measurement.problem.y.to(at::kCPU);
  result["chi2"] = found.report.chi2;
  result["noise"] = found.report.sigma_y;
  result["verdict"] = found.report.verdict();
  result["warnings"] = found.warnings;
  result["findings"] = found.report.findings;
  result["report"] = to_json(found.report);
  result["format"] = found.measurement.format;
  result["result"] = std::make_shared<RestorationResult>(std::move(found));
  return result;
}

void bind_restore(py::module_& m) {
  py::class_<PictureFormat>(m, "PictureFormat")
      .def(py::init<>())
      .def_readonly("bits", &PictureFormat::bits);
  py::class_<RestorationResult, std::shared_ptr<RestorationResult>>(m, "RestorationResult")
      .def(
          "sheet",
          [](const RestorationResult& r) {
            return report::restored_sheet({{"", r}});
          },
          Release())
      .def(
          "save",
          [](const RestorationResult& r, const std::string& folder) {
            check(NewFolder::is_free(folder), folder, ": a new or an empty folder is wanted");
            report::write_restored(folder, r);
          },
          Release());
  m.def("restore",
        [](const std::shared_ptr<BoundNetwork>& network,
           const std::string& path,
           const std::optional<Tensor>& y,
           const std::shared_ptr<BoundOperator>& A,
           const py::dict& options,
           const py::object& report) {
          return to_python(run(network, path, y, A, options, report));
        });
}

}  // namespace eps::python
