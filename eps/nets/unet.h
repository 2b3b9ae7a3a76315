// EDM's U-Net, DDPM++, NCSN++ and ADM, and our own for pictures of any size, by configuration.
//
// DDPM++ and NCSN++: Song et al. 2021; ADM: Dhariwal and Nichol 2021; both as in Karras et al.
// 2022.
#pragma once

#include "eps/base/random.h"
#include "eps/nets/external.h"
#include "eps/nets/plan.h"

namespace eps::nets {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

class UNet {
 public:
  // Allocates all tensors without initial values: call initialise() or load() next. A copy shares
  // the tensors.
  explicit UNet(const UNetConfig& config);
  // Copies these tensors, as load() does. Refuses a configuration that does not match the tensors
  // before any memory is allocated.
  UNet(const UNetConfig& config, const std::map<std::string, Tensor>& tensors);
  // Makes a network of a function from outside, for images that the configuration describes. Such a
  // network has no tensors, and can neither be trained nor written.
  UNet(const UNetConfig& config, std::shared_ptr<const ExternalFunction> function);
  bool is_external() const { return function_ != nullptr; }
  // Returns a network with its own tensors, which require no gradients.
  UNet clone() const;

  // Returns F(x; noise, class, augmentation) in the type of x. x (N, in_channels, H, W), H and W
  // multiples of 2^(levels - 1), or for a LocalUNet not below that: it sees an image continued by
  // its reflection. noise_labels (N) or (1). Class labels (N, label_dim), absent:
  // zeros; augment labels (N, augment_dim), absent: their term is left out. With a generator the
  // network is in training mode and draws its dropout from it.
  Tensor forward(const Tensor& x,
                 const Tensor& noise_labels,
                 const Tensor& class_labels = {},
                 const Tensor& augment_labels = {},
                 const at::Generator& training = {}) const;

  // Draws EDM's initial values.
  void initialise(Rng& rng);
  // Copies the tensors into the network. Unknown names, missing names and wrong shapes are Errors
  // that name them.
  void load(const std::map<std::string, Tensor>& tensors);

  // Returns the tensors themselves, in the order of the layers; EDM's names without `model.`.
  std::vector<NamedTensor> parameters() const { return select(false); }
  std::vector<NamedTensor> buffers() const { return select(true); }
  void requires_grad(bool on);

  // Moves the network to the device. Images pass through the network in `dtype`; the small network
  // that embeds the noise level stays in float32 unless dtype is float64. A CPU keeps float16
  // weights but computes in float32, since it lacks half-precision arithmetic.
  void to(at::Device device, at::ScalarType dtype);
  // Moves the parameters, which must be of one type, into one tensor, in their order, and returns
  // it; each parameter is then a view of that tensor. Optimisers, averages and sums over processes
  // then need a few operations on one tensor instead of a few for each parameter.
  Tensor flatten();
  // Returns the parts of a tensor like flatten()'s that belong to the parameters, in their shapes.
  std::vector<Tensor> split(const Tensor& flat) const;

  // Makes images pass through the network in `dtype` without a change to the tensors: each tensor
  // is rounded when used, and its gradient is not rounded. For training in mixed precision.
  void compute_in(at::ScalarType dtype) { dtype_ = dtype; }

  const UNetConfig& config() const { return plan_->config; }
  const UNetPlan& plan() const { return *plan_; }
  at::Device device() const { return is_external() ? device_ : tensors_.front().device(); }
  at::ScalarType dtype() const { return dtype_; }

  friend UNet with_inputs(const UNet& network, const std::vector<int64_t>& from);
  friend UNet at_resolution(const UNet& network, int64_t side);

 private:
  void allocate();
  void copy(const std::map<std::string, Tensor>& tensors);
  std::vector<NamedTensor> select(bool buffers) const;
  void check_input(const Tensor& x,
                   const Tensor& noise_labels,
                   const Tensor& class_labels,
                   const Tensor& augment_labels) const;

  std::shared_ptr<const UNetPlan> plan_;
  std::vector<Tensor> tensors_;
  at::ScalarType dtype_ = at::kFloat;
  std::shared_ptr<const ExternalFunction> function_;  // in place of the plan's steps
  at::Device device_ = at::kCPU;                      // of the function
};

// Returns the same network with `extra` further input channels whose weights are zero: for all
// finite values of these channels, the output equals the narrow network's to the last bit.
UNet widen_input(const UNet& narrow, int64_t extra);

// Returns the same network with other input channels: channel k has the weights of the old channel
// from[k], or zeros where from[k] < 0.
UNet with_inputs(const UNet& network, const std::vector<int64_t>& from);

// Returns the same network for images of another side, which changes the names of its tensors. Its
// levels keep their attention.
UNet at_resolution(const UNet& network, int64_t side);

}  // namespace eps::nets
