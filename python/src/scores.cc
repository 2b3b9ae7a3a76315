// Metrics, and the checks of the mathematics, for Python.
#include <cmath>

#include "eps/metrics/evaluation.h"
#include "eps/verify/verify.h"
#include "python_operator.h"

namespace eps::python {
namespace {

py::dict metrics_of(Tensor samples,
                    Tensor truth,
                    const std::shared_ptr<BoundOperator>& A,
                    const std::optional<Tensor>& y,
                    double sigma_y,
                    const std::vector<std::string>& lpips,
                    const std::string& inception,
                    uint64_t seed) {
  Evaluation found;
  {
    const py::gil_scoped_release released;
    check(truth.dim() == 4 && truth.numel() > 0,
          "metrics: the truth is N x C x H x W, got ",
          to_string(truth.sizes()));
    if (samples.dim() == 4) samples = samples.unsqueeze(0);
    check(samples.dim() == 5 && samples.size(0) > 0 && samples.sizes().slice(1) == truth.sizes(),
          "metrics: samples are S x N x C x H x W with the truth's ",
          to_string(truth.sizes()),
          " behind S, got ",
          to_string(samples.sizes()));
    samples = plain_tensor("metrics: samples", samples, samples.device()).detach().cpu();
    truth = plain_tensor("metrics: truth", truth, truth.device()).detach().cpu();
    for (const Tensor* images : {&samples, &truth})
      check(at::logical_and(*images >= -1 - 1e-6, *images <= 1 + 1e-6).all().item<bool>(),
            "metrics: images in [-1, 1] are wanted");
    std::vector<Problem> problems;
    check(!A == !y.has_value(), "metrics: operator, y and noise belong together");
    if (A) {
      check(sigma_y > 0 && std::isfinite(sigma_y), "metrics: noise must be > 0, got ", sigma_y);
      const Tensor measured = A->measurements("y", y->detach()).to(at::kDouble).cpu();
      check(measured.size(0) == truth.size(0), "metrics: a measurement of each image is wanted");
      check(A->image == truth.sizes().slice(1).vec(), "metrics: the operator is for other images");
      problems.push_back({A->A, measured, scalar(sigma_y)});
    }
    const MetricNetworks networks = load_metric_networks(lpips, inception, "", at::kCPU);
    found = evaluate(
        samples,
        truth,
        {.networks = &networks, .problems = problems.empty() ? nullptr : &problems, .seed = seed});
  }
  py::dict values, absent;
  for (const auto& [name, reading] : found.metrics)
    values[py::str(name)] = py::make_tuple(reading.value, reading.se);
  for (const auto& [name, reason] : found.absent) absent[py::str(name)] = reason;
  py::dict result;
  result["metrics"] = values;
  result["absent"] = absent;
  result["ranks"] = found.ranks;
  return result;
}

py::list verify_rows(uint64_t seed, const py::object& report) {
  Watch watch(report);
  std::vector<VerifyRow> rows;
  {
    const py::gil_scoped_release released;
    watch.start("claims", 0);
    rows = verify(seed, [&](const VerifyRow&) { watch.advance(1); });
  }
  py::list all;
  for (const VerifyRow& row : rows) {
    py::dict one;
    one["table"] = row.table;
    one["subject"] = row.subject;
    one["claim"] = row.claim;
    one["value"] = row.value;
    one["bound"] = row.bound;
    one["passed"] = row.passed();
    all.append(one);
  }
  return all;
}

}  // namespace

void bind_scores(py::module_& m) {
  m.def("metrics", &metrics_of);
  m.def("verify", &verify_rows);
}

}  // namespace eps::python
