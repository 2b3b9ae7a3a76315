// Reads and writes checkpoints.
#include "eps/model/checkpoint.h"

#include <algorithm>

#include "eps/base/printable.h"
#include "eps/io/torch/torch_storage.h"
#include "eps/model/foreign/families.h"
#include "eps/model/scripted/torchscript.h"

namespace eps {
namespace {

// EDM's module is the preconditioner, and the network is its child `model`.
const std::string kPrefix = "model.";
const std::string kSpectrum = "prior_spectrum";
const std::string kIddpmLevels = "u";

bool must_stay_exact(const std::string& name) {
  return name == kSpectrum || name == kIddpmLevels || name.ends_with("map_noise.freqs");
}

// The iDDPM preconditioner keeps its noise levels in a buffer beside the network.
void check_noise_levels(const Tensor& levels, const Preconditioning& preconditioning) {
  const Tensor wanted = iddpm_noise_levels(preconditioning);
  check(levels.sizes() == wanted.sizes() &&
            at::allclose(levels.to(at::kDouble), wanted, /*rtol=*/1e-3, /*atol=*/1e-6),
        "tensor \"u\" does not hold the noise levels that M, C_1 and C_2 in the config describe");
}

// Refuses a file that has nothing of a network of ours, with what is read.
void check_known(const Safetensors& file) {
  const bool known = std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& entry) {
    return entry.first.starts_with(kPrefix);
  });
  const auto source = file.metadata.find("source");
  check(known || source == file.metadata.end() || source->second != "torchscript",
        "a TorchScript archive, which holds code; torchscript:file=FILE,size=SIDE runs it");
  check(known,
        "is no network that is read; its first tensor is ",
        file.tensors.empty() ? "none" : quote(file.tensors.begin()->first),
        "; read are ",
        known_networks());
}

Checkpoint assemble(const Safetensors& file) {
  check_known(file);
  const auto config_text = file.metadata.find("config");
  check(config_text != file.metadata.end(), "no \"config\" in the metadata");
  const ModelConfig config = parse_model_config(config_text->second);
  Preconditioning preconditioning = config.preconditioning;
  std::map<std::string, Tensor> network;
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with(kPrefix)) {
      network[name.substr(kPrefix.size())] = tensor;
    } else if (name == kSpectrum) {
      check(tensor.dim() == 2, "tensor \"", name, "\" must be H x W/2+1");
      preconditioning.spectrum = tensor.to(at::kFloat);
    } else if (name == kIddpmLevels &&
               config.preconditioning.kind == Preconditioning::Kind::iddpm) {
      check_noise_levels(tensor, config.preconditioning);
    } else {
      check(name.starts_with("ref."), "unknown tensor \"", printable(name), "\"");
    }
  }
  check(preconditioning.spectrum.defined() || config.preconditioning.prior_variance == "constant",
        "no tensor \"",
        kSpectrum,
        "\", which prior_variance=",
        config.preconditioning.prior_variance,
        " in the config needs");
  const auto provenance = file.metadata.find("provenance");
  return {.network = nets::UNet(config.network, network),
          .preconditioning = preconditioning,
          .input = config.input,
          .gpu_arithmetic = config.gpu_arithmetic,
          .provenance = provenance == file.metadata.end() ? Provenance{}
                                                          : parse_provenance(provenance->second)};
}

}  // namespace

Tensor host_copy(const Tensor& tensor) {
  const Tensor copy = at::empty(tensor.sizes(), at::TensorOptions(at::kCPU).dtype(tensor.dtype()));
  return copy.copy_(tensor.detach());
}

Checkpoint checkpoint_from(const Safetensors& file, const std::string& name) {
  try {
    return assemble(as_checkpoint(file));
  } catch (const Error& error) {
    fail(name, ": ", error.what());
  }
}

Checkpoint load_network(const std::string& text) {
  if (is_scripted_spec(text)) return scripted_network(text);
  return checkpoint_from(read_network(text), text);
}

Checkpoint read_checkpoint(const std::string& path) {
  return checkpoint_from(read_safetensors(path), path);
}

Safetensors to_safetensors(const Checkpoint& checkpoint) {
  check(!checkpoint.network.is_external(), "a network from outside has no tensors to write");
  Safetensors file;
  const auto add = [&](const std::vector<nets::NamedTensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      file.tensors[kPrefix + name] = host_copy(tensor);
    }
  };
  add(checkpoint.network.parameters());
  add(checkpoint.network.buffers());
  file.metadata["config"] = to_json(ModelConfig{.network = checkpoint.network.config(),
                                                .preconditioning = checkpoint.preconditioning,
                                                .input = checkpoint.input,
                                                .gpu_arithmetic = checkpoint.gpu_arithmetic});
  file.metadata["provenance"] = to_json(checkpoint.provenance);
  const Tensor& spectrum = checkpoint.preconditioning.spectrum;
  if (spectrum.defined()) file.tensors[kSpectrum] = host_copy(spectrum);
  return file;
}

Safetensors stored_as(Safetensors file, at::ScalarType dtype) {
  for (auto& [name, tensor] : file.tensors) {
    if (!tensor.is_floating_point() || must_stay_exact(name)) continue;
    const Tensor stored = tensor.to(dtype);
    check(stored.isfinite().equal(tensor.isfinite()),
          "tensor ",
          quote(name),
          " has numbers too great for ",
          dtype_name(dtype));
    tensor = stored;
  }
  return file;
}

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  write_safetensors(path, to_safetensors(checkpoint));
}

}  // namespace eps
