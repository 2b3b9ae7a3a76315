// The initial values of the U-Net's tensors, and the check of given ones.
#include "eps/nets/unet_tensors.h"

#include <set>

#include "eps/base/printable.h"

namespace eps::nets {
namespace {

Tensor normalised_outer_product(const std::vector<double>& filter) {
  const Tensor taps = at::tensor(filter, at::kDouble);
  const Tensor outer = at::outer(taps, taps);
  return (outer / outer.sum()).unsqueeze(0).unsqueeze(0);
}

void check_tensor(const TensorSpec& spec, const Tensor& tensor, const UNetConfig& config) {
  check(tensor.sizes() == spec.shape,
        "network: tensor \"",
        spec.name,
        "\" must be ",
        to_string(spec.shape),
        ", got ",
        to_string(tensor.sizes()));
  if (spec.fill != TensorSpec::Fill::filter) return;
  const Tensor wanted = normalised_outer_product(config.resample_filter);
  check(at::allclose(tensor.to(at::kCPU, at::kDouble), wanted, 1e-2, 0),
        "network: tensor \"",
        spec.name,
        "\" is not the filter that resample_filter in the config describes");
}

}  // namespace

Tensor initial_tensor(const TensorSpec& spec, const UNetConfig& config, Rng& rng) {
  switch (spec.fill) {
    case TensorSpec::Fill::uniform:
      return (rng.uniform(spec.shape) * 2 - 1) * spec.scale;
    case TensorSpec::Fill::normal:
      return rng.normal(spec.shape) * spec.scale;
    case TensorSpec::Fill::filter:
      return normalised_outer_product(config.resample_filter);
    case TensorSpec::Fill::constant:
      break;
  }
  return at::full(spec.shape, spec.scale, at::kDouble);
}

void check_tensors(const UNetPlan& plan, const std::map<std::string, Tensor>& tensors) {
  std::set<std::string> names;
  for (const TensorSpec& spec : plan.tensors) {
    const auto found = tensors.find(spec.name);
    check(found != tensors.end(), "network: tensor \"", spec.name, "\" is missing");
    check_tensor(spec, found->second, plan.config);
    names.insert(spec.name);
  }
  for (const auto& [name, tensor] : tensors) {
    check(names.count(name) > 0, "network: unknown tensor \"", printable(name), "\"");
  }
}

}  // namespace eps::nets
