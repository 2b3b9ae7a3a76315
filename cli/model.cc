// Options and loading of a network, for the verbs that run one.
#include "cli/model.h"

#include <charconv>
#include <iostream>

#include "eps/io/array.h"
#include "eps/model/bundled.h"
#include "eps/restore/training_range.h"
#include "eps/runtime/device.h"

namespace eps::cli {
namespace {

at::ScalarType computed_dtype(const std::string& text, at::Device device, at::ScalarType on_gpu) {
  if (text == "auto") return device.is_cuda() ? on_gpu : at::kFloat;
  if (text == "float32") return at::kFloat;
  if (text == "bfloat16") return at::kBFloat16;
  return at::kHalf;
}

int64_t parse_label(const std::string& text) {
  int64_t label = -1;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), label);
  check(status == std::errc() && stop == text.data() + text.size(),
        "--labels: \"",
        text,
        "\" is not a whole number");
  return label;
}

Tensor parse_labels(const std::string& text, const Checkpoint& model, int64_t count) {
  const int64_t classes = model.network.config().label_dim;
  check(classes > 0, "--labels ", text, ": this network takes no class labels");
  Tensor labels;
  if (text.find_first_not_of("0123456789,") == std::string::npos) {
    std::vector<int64_t> numbers;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) numbers.push_back(parse_label(part));
    labels = at::tensor(numbers, at::kLong);
  } else {
    labels = read_array(text);
    if (labels.dim() == 2) {  // conditioning vectors, used unchanged
      check(labels.size(0) == count && labels.size(1) == classes,
            text,
            ": must hold ",
            count,
            " x ",
            classes,
            " labels, got ",
            to_string(labels.sizes()));
      return labels.to(at::kFloat);
    }
    labels = labels.to(at::kLong);
  }
  check(labels.dim() == 1 && (labels.numel() == 1 || labels.numel() == count),
        "--labels ",
        text,
        ": ",
        labels.numel(),
        " labels for ",
        count,
        " images; one, or one per image, is wanted");
  check(labels.min().item<int64_t>() >= 0 && labels.max().item<int64_t>() < classes,
        "--labels ",
        text,
        ": labels are 0 to ",
        classes - 1);
  return at::one_hot(labels.expand({count}), classes).to(at::kFloat);
}

}  // namespace

void add_model_options(CLI::App& verb, ModelOptions& options, const std::string& name) {
  verb.add_option(
          name,
          options.path,
          "Network: a name of eps list models, any checkpoint that eps convert reads, or one with "
          "what it does not tell, as in guided_diffusion:file=F.pt,heads=4 (eps list models)")
      ->required();
  add_device_options(verb, options);
}

void add_device_options(CLI::App& verb, ModelOptions& options) {
  verb.add_option("--device", options.device, "auto, cpu, cuda or cuda:K")->capture_default_str();
  verb.add_option(
          "--dtype", options.dtype, "Arithmetic of the network: auto, float32, bfloat16 or float16")
      ->check(CLI::IsMember({"auto", "float32", "bfloat16", "float16"}))
      ->capture_default_str();
}

void name_network(ModelOptions& options, bool large_on_cpu) {
  if (options.path.empty())
    options.path = photos_network(parse_device(options.device), large_on_cpu);
}

Checkpoint load_any_model(const ModelOptions& options) {
  const at::Device device = parse_device(options.device);
  prepare_device(device);
  const std::string file = find_model(options.path);
  Checkpoint model = load_network(file);
  model.network.to(device, computed_dtype(options.dtype, device, model.gpu_arithmetic));
  model.preconditioning = model.preconditioning.on(device);
  return model;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) std::cerr << "eps: warning: " << warning << '\n';
}

Checkpoint load_model(const ModelOptions& options,
                      const NetworkInput& wanted,
                      const std::string& asker) {
  Checkpoint model = load_any_model(options);
  check(serves(model.input, wanted),
        options.path,
        ": a network for the input ",
        to_string(model.input.without(Channel::skip)),
        "; ",
        asker,
        " needs one for the input ",
        to_string(wanted),
        wanted == NetworkInput::prior ? "" : " (eps train --input " + to_string(wanted) + ")");
  if (!wanted.conditional())
    print_warnings(
        own_prior_warnings(options.path, model.provenance, model.network.config().img_resolution));
  return model;
}

Tensor labels_for(const std::string& text,
                  const Checkpoint& model,
                  int64_t count,
                  const std::function<Tensor()>& others) {
  if (!text.empty()) return parse_labels(text, model, count);
  const int64_t classes = model.network.config().label_dim;
  if (classes == 0 || !others) return {};
  const Tensor labels = others();
  return labels.dim() == 1 ? at::one_hot(labels, classes).to(at::kFloat) : labels;
}

}  // namespace eps::cli
