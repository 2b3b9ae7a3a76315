// TorchScript modules as opaque networks.
#include "eps/model/scripted/torchscript.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>

#include "eps/base/printable.h"

namespace eps {
namespace {

const std::string kName = "torchscript";

// Returns one line of what torch throws: the first, or the last behind a trace of the module's
// source.
std::string line_of(const std::exception& error) {
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const bool traced = text.starts_with("The following operation failed");
  return printable(traced ? text.substr(text.rfind('\n') + 1) : text.substr(0, text.find('\n')),
                   200);
}

class ScriptedFunction final : public nets::ExternalFunction {
 public:
  ScriptedFunction(torch::jit::Module module, std::string file, const nets::UNetConfig& config)
      : module_(std::move(module)), file_(std::move(file)), config_(config) {
    module_.eval();
    for (const auto& parameter : module_.parameters()) parameter.set_requires_grad(false);
  }

  Tensor forward(const Tensor& x,
                 const Tensor& noise_labels,
                 const Tensor& class_labels) const override {
    const int64_t n = x.size(0);
    std::vector<c10::IValue> arguments = {x.to(dtype_),
                                          noise_labels.to(x.device(), at::kFloat).expand({n})};
    if (config_.label_dim > 0) {
      const Tensor labels =
          class_labels.defined() ? class_labels : at::zeros({1, config_.label_dim}, x.options());
      arguments.push_back(labels.to(x.device(), at::kFloat).expand({n, config_.label_dim}));
    }
    return checked(call(std::move(arguments)), x);
  }

  std::shared_ptr<const nets::ExternalFunction> to(at::Device device,
                                                   at::ScalarType dtype) const override {
    try {
      torch::jit::Module moved = module_.clone();
      moved.to(device, dtype);
      auto function = std::make_shared<ScriptedFunction>(std::move(moved), file_, config_);
      function->dtype_ = dtype;
      return function;
    } catch (const c10::Error& error) {
      fail(file_, ": ", line_of(error));
    }
  }

 private:
  c10::IValue call(std::vector<c10::IValue> arguments) const {
    try {
      return module_.get_method("forward")(std::move(arguments));
    } catch (const std::exception& error) {
      fail(file_, ": its code failed: ", line_of(error));
    }
  }

  Tensor checked(const c10::IValue& value, const Tensor& x) const {
    check(value.isTensor(), file_, ": forward() must return a tensor, got ", value.tagKind());
    const Tensor answer = value.toTensor();
    const bool images = answer.dim() == 4 && answer.size(0) == x.size(0) &&
                        answer.size(1) >= x.size(1) && answer.size(2) == x.size(2) &&
                        answer.size(3) == x.size(3);
    check(images,
          file_,
          ": forward() must return ",
          to_string(x.sizes()),
          ", got ",
          to_string(answer.sizes()));
    return answer.slice(1, 0, x.size(1));
  }

  torch::jit::Module module_;
  const std::string file_;
  const nets::UNetConfig config_;
  at::ScalarType dtype_ = at::kFloat;
};

nets::UNetConfig sizes_of(const Spec& spec) {
  nets::UNetConfig config;
  config.model_type = "DhariwalUNet";
  config.img_resolution = spec.integer("size");
  config.img_channels = config.in_channels = config.out_channels = spec.integer("channels");
  config.label_dim = spec.integer("classes");
  config.channel_mult = {1};  // any side
  config.attn_resolutions = {};
  return config;
}

Preconditioning rule_of(const Spec& spec) {
  if (spec.text("input") == "sigma") return {.kind = Preconditioning::Kind::denoiser};
  return {.kind = Preconditioning::Kind::discrete,
          .M = spec.integer("steps"),
          .prediction = spec.text("prediction"),
          .beta_schedule = spec.text("schedule")};
}

torch::jit::Module load_module(const std::string& file) {
  try {
    return torch::jit::load(file, at::kCPU);
  } catch (const std::exception& error) {
    fail(file, ": no TorchScript: ", line_of(error));
  }
}

}  // namespace

bool is_scripted_spec(const std::string& text) {
  std::error_code ignored;
  return text.starts_with(kName + ":") && !std::filesystem::exists(text, ignored);
}

std::vector<Field> scripted_fields() {
  return {
      Field::integer("size", "", {1, 16384}, "side of the images in pixels"),
      Field::integer("channels", "3", {1, 64}, "channels of the images"),
      Field::integer("classes", "0", {0, 1 << 20}, "classes; 0: no third argument"),
      Field::choice("input", "sigma", {"sigma", "step"}, "(x, sigma) for x0, or (x_t, t)"),
      Field::choice("prediction", "epsilon", {"epsilon", "sample", "v"}, "of input=step"),
      Field::choice("schedule", "linear", {"linear", "scaled_linear", "cosine"}, "of input=step"),
      Field::integer("steps", "1000", {2, 100000}, "of input=step")};
}

Checkpoint scripted_network(const std::string& text) {
  const Spec stated = Spec::parse(text);
  std::vector<Field> fields = scripted_fields();
  fields.insert(fields.begin(), {"file", "", "the archive, whose code is run"});
  const Spec spec = stated.resolve(fields);
  for (const char* key : {"file", "size"})
    check(spec.has(key), text, ": no ", key, "; torchscript:file=FILE,size=SIDE is wanted");
  for (const char* key : {"prediction", "schedule", "steps"})
    check(!stated.has(key) || spec.text("input") == "step", text, ": ", key, " is of input=step");
  const std::string file = spec.text("file");
  const nets::UNetConfig sizes = sizes_of(spec);
  const auto function = std::make_shared<ScriptedFunction>(load_module(file), file, sizes);
  return {.network = nets::UNet(sizes, function), .preconditioning = rule_of(spec)};
}

}  // namespace eps
