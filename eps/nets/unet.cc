// The tensors of the U-Net, and the evaluation of its plan.
#include "eps/nets/unet.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eps/nets/cuda/fused_cuda.h"
#include "eps/nets/layers.h"
#include "eps/nets/unet_tensors.h"

namespace eps::nets {
namespace {

// Returns the fastest memory format of images and convolution weights on the device.
at::MemoryFormat layout_on(at::Device device) {
  const bool channels_first = device.is_cuda() && !has_cuda_kernels();
  return channels_first ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast;
}

Tensor laid_out(const Tensor& tensor) {
  return tensor.dim() == 4 ? tensor.contiguous(layout_on(tensor.device())) : tensor;
}

Tensor add_head(const Evaluation& net, const Step& step, const Tensor& x, const Tensor& output) {
  const Tensor h = convolve(net, step.conv, group_normalise(net, step.norm, x, {.silu = true}));
  return output.defined() ? h + output : h;
}

Tensor walk(const Evaluation& net, const Tensor& input, const Tensor& embedding) {
  using Kind = Step::Kind;
  Tensor x = input, aux = input, output;
  std::vector<Tensor> skips;
  for (const Step& step : net.plan.steps) {
    switch (step.kind) {
      case Kind::conv:
        skips.push_back(x = convolve(net, step.conv, x));
        break;
      case Kind::plain_conv:
        x = convolve(net, step.conv, x);
        break;
      case Kind::merge:
        skips.push_back(x);
        x = convolve(net, step.conv, x);
        break;
      case Kind::split:
        x = convolve(net, step.conv, x) + skips.back();
        skips.pop_back();
        break;
      case Kind::block:
        skips.push_back(x = apply_block(net, step.block, x, embedding));
        break;
      case Kind::joined_block:
        x = apply_block(net, step.block, at::cat({x, skips.back()}, 1), embedding);
        skips.pop_back();
        break;
      case Kind::plain_block:
        x = apply_block(net, step.block, x, embedding);
        break;
      case Kind::aux_down:
        aux = convolve(net, step.conv, aux);
        break;
      case Kind::aux_skip:
        skips.back() = x = x + convolve(net, step.conv, aux);
        break;
      case Kind::aux_residual:
        skips.back() = x = aux = (x + convolve(net, step.conv, aux)) * std::sqrt(0.5);
        break;
      case Kind::aux_up:
        output = convolve(net, step.conv, output);
        break;
      case Kind::head:
        output = add_head(net, step, x, output);
        break;
    }
  }
  return output;
}

// Continues the image to the right and below by its reflection, to sides that the divisor divides.
Tensor reflected(const Tensor& x, int64_t divisor) {
  const auto missing = [&](int64_t side) { return (divisor - side % divisor) % divisor; };
  const int64_t right = missing(x.size(3)), below = missing(x.size(2));
  return right + below == 0 ? x : at::reflection_pad2d(x, {0, right, 0, below});
}

}  // namespace

UNet::UNet(const UNetConfig& config) : plan_(std::make_shared<const UNetPlan>(config)) {
  allocate();
}

UNet::UNet(const UNetConfig& config, const std::map<std::string, Tensor>& tensors)
    : plan_(std::make_shared<const UNetPlan>(config)) {
  check_tensors(*plan_, tensors);
  allocate();
  copy(tensors);
}

UNet::UNet(const UNetConfig& config, std::shared_ptr<const ExternalFunction> function)
    : plan_(std::make_shared<const UNetPlan>(UNetPlan::external(config))),
      function_(std::move(function)) {}

void UNet::allocate() {
  for (const TensorSpec& spec : plan_->tensors) {
    tensors_.push_back(laid_out(at::empty(spec.shape, at::kFloat)));
  }
}

Tensor UNet::forward(const Tensor& x,
                     const Tensor& noise_labels,
                     const Tensor& class_labels,
                     const Tensor& augment_labels,
                     const at::Generator& training) const {
  check_input(x, noise_labels, class_labels, augment_labels);
  if (is_external())
    return function_->forward(x, noise_labels, class_labels).to(x.scalar_type()).contiguous();
  const bool trained = std::any_of(
      tensors_.begin(), tensors_.end(), [](const Tensor& t) { return t.requires_grad(); });
  const bool gradients = c10::GradMode::is_enabled() && (trained || x.requires_grad());
  const Evaluation net{*plan_, tensors_, training, gradients};
  const bool no_half_arithmetic = x.is_cpu() && dtype_ == at::kHalf;
  const Tensor padded = config().is_local() ? reflected(x, plan().divisor()) : x;
  const auto wide = dtype_ == at::kDouble ? at::kDouble : at::kFloat;
  const Tensor embedding =
      embed(net, noise_labels.to(x.device(), wide), class_labels, augment_labels);
  const Tensor input = padded.to(no_half_arithmetic ? at::kFloat : dtype_);
  return walk(net, input.contiguous(layout_on(input.device())), embedding)
      .slice(2, 0, x.size(2))
      .slice(3, 0, x.size(3))
      .to(x.scalar_type())
      .contiguous();
}

void UNet::check_input(const Tensor& x,
                       const Tensor& noise_labels,
                       const Tensor& class_labels,
                       const Tensor& augment_labels) const {
  const UNetConfig& network = config();
  check(x.dim() == 4 && x.size(1) == network.in_channels,
        "network: the input must be N x ",
        network.in_channels,
        " x H x W, got ",
        to_string(x.sizes()));
  const int64_t divisor = plan().divisor();
  for (const int64_t size : {x.size(2), x.size(3)}) {
    check(network.is_local() ? size >= divisor : size > 0 && size % divisor == 0,
          network.is_local() ? "network: the image's sides must be at least "
                             : "network: the image's sides must be multiples of ",
          divisor,
          ", got ",
          to_string(x.sizes()));
  }
  check(noise_labels.dim() == 1 && (noise_labels.size(0) == 1 || noise_labels.size(0) == x.size(0)),
        "network: one noise label or one per image is wanted, got ",
        to_string(noise_labels.sizes()),
        " for ",
        x.size(0),
        " images");
  const auto check_labels = [&](const char* name, const Tensor& labels, int64_t width) {
    if (!labels.defined()) return;
    const bool rows = labels.dim() == 2 && (labels.size(0) == 1 || labels.size(0) == x.size(0));
    check(rows && labels.size(1) == width,
          "network: ",
          name,
          " labels must be N x ",
          width,
          ", got ",
          to_string(labels.sizes()));
  };
  check_labels("class", class_labels, network.label_dim);
  check_labels("augment", augment_labels, network.augment_dim);
}

void UNet::initialise(Rng& rng) {
  c10::NoGradGuard no_grad;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].copy_(initial_tensor(plan_->tensors[i], config(), rng));
  }
}

void UNet::load(const std::map<std::string, Tensor>& tensors) {
  check_tensors(*plan_, tensors);
  copy(tensors);
}

void UNet::copy(const std::map<std::string, Tensor>& tensors) {
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].copy_(tensors.at(plan_->tensors[i].name));
  }
}

UNet UNet::clone() const {
  UNet copy = *this;
  for (Tensor& tensor : copy.tensors_) tensor = tensor.detach().clone();
  return copy;
}

void UNet::requires_grad(bool on) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].set_requires_grad(on && !plan_->tensors[i].is_buffer);
  }
}

void UNet::to(at::Device device, at::ScalarType dtype) {
  c10::NoGradGuard no_grad;
  dtype_ = dtype;
  device_ = device;
  if (is_external()) function_ = function_->to(device, dtype);
  const auto wide = dtype == at::kDouble ? at::kDouble : at::kFloat;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const bool spatial = plan_->tensors[i].role == TensorSpec::Role::spatial;
    const bool gradient = tensors_[i].requires_grad();
    tensors_[i] = laid_out(tensors_[i].detach().to(device, spatial ? dtype : wide));
    tensors_[i].set_requires_grad(gradient);
  }
}

Tensor UNet::flatten() {
  c10::NoGradGuard no_grad;
  check(!is_external(), "network: a function from outside has no parameters to train");
  int64_t total = 0;
  for (const auto& [name, tensor] : parameters()) {
    check(tensor.scalar_type() == tensors_.front().scalar_type(),
          "network: only parameters of one type can be flattened, got ",
          tensor.scalar_type(),
          " for \"",
          name,
          "\"");
    total += tensor.numel();
  }
  const Tensor flat = at::empty({total}, tensors_.front().options());
  const std::vector<Tensor> views = split(flat);
  size_t next = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (plan_->tensors[i].is_buffer) continue;
    const bool gradient = tensors_[i].requires_grad();
    views[next].copy_(tensors_[i]);
    tensors_[i] = views[next++];
    tensors_[i].set_requires_grad(gradient);
  }
  return flat;
}

std::vector<Tensor> UNet::split(const Tensor& flat) const {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const TensorSpec& spec : plan_->tensors) {
    if (spec.is_buffer) continue;
    const Tensor part = flat.slice(0, begin, begin + spec.numel());
    begin += spec.numel();
    const Shape& s = spec.shape;
    // Four-dimensional tensors have the memory format of layout_on().
    const bool channels_last =
        s.size() == 4 && layout_on(flat.device()) == at::MemoryFormat::ChannelsLast;
    parts.push_back(channels_last ? part.view({s[0], s[2], s[3], s[1]}).permute({0, 3, 1, 2})
                                  : part.view(s));
  }
  return parts;
}

std::vector<NamedTensor> UNet::select(bool buffers) const {
  std::vector<NamedTensor> selected;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (plan_->tensors[i].is_buffer == buffers) {
      selected.push_back({plan_->tensors[i].name, tensors_[i]});
    }
  }
  return selected;
}

UNet widen_input(const UNet& narrow, int64_t extra) {
  check(extra >= 1, "widen_input: at least one extra channel is wanted, got ", extra);
  std::vector<int64_t> from(static_cast<size_t>(narrow.config().in_channels + extra), -1);
  std::iota(from.begin(), from.end() - extra, 0);
  return with_inputs(narrow, from);
}

UNet with_inputs(const UNet& network, const std::vector<int64_t>& from) {
  UNetConfig config = network.config();
  for (const int64_t source : from)
    check(source < config.in_channels,
          "network: there is no input channel ",
          source,
          ", the network has ",
          config.in_channels);
  // The tensors whose shape grows with one more input are those that act on the input.
  ++config.in_channels;
  const UNetPlan wider(config);
  config.in_channels = static_cast<int64_t>(from.size());
  UNet changed = network.clone();
  changed.plan_ = std::make_shared<const UNetPlan>(config);
  for (size_t i = 0; i < changed.tensors_.size(); ++i) {
    Tensor& tensor = changed.tensors_[i];
    if (tensor.sizes() == wider.tensors[i].shape) continue;
    std::vector<Tensor> channels;
    for (const int64_t source : from) {
      const int64_t old = std::max<int64_t>(source, 0);
      const Tensor channel = tensor.slice(1, old, old + 1);
      channels.push_back(source < 0 ? at::zeros_like(channel) : channel);
    }
    tensor = laid_out(at::cat(channels, 1));
  }
  return changed;
}

UNet at_resolution(const UNet& network, int64_t side) {
  UNetConfig config = network.config();
  const std::vector<int64_t> sizes = std::exchange(config.attn_resolutions, {});
  for (int64_t level = 0; level < config.levels(); ++level)
    if (std::count(sizes.begin(), sizes.end(), config.img_resolution >> level) > 0)
      config.attn_resolutions.push_back(side >> level);
  config.img_resolution = side;
  UNet renamed = network.clone();
  renamed.plan_ = std::make_shared<const UNetPlan>(config);
  return renamed;
}

}  // namespace eps::nets
