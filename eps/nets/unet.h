// EDM's U-Net: DDPM++, NCSN++ and ADM, by configuration.
//
// DDPM++ and NCSN++: Song et al. 2021; ADM: Dhariwal and Nichol 2021; both as in Karras et al.
// 2022.
#pragma once

#include "eps/base/random.h"
#include "eps/nets/plan.h"

namespace eps::nets {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

class UNet {
 public:
  // All tensors as allocated: call initialise() or load() next. A copy shares the tensors.
  explicit UNet(const UNetConfig& config);
  // Holds copies of these tensors, which load() would take. A configuration that describes others
  // is refused before memory is taken for it.
  UNet(const UNetConfig& config, const std::map<std::string, Tensor>& tensors);
  // With tensors of its own, which require no gradients.
  UNet clone() const;

  // F(x; noise, class, augmentation), in the type of x. x (N, in_channels, H, W), H and W multiples
  // of 2^(levels - 1); noise_labels (N) or (1). Class labels (N, label_dim), absent: zeros; augment
  // labels (N, augment_dim), absent: their term is left out. With a generator the network is in
  // training mode and draws its dropout from it.
  Tensor forward(const Tensor& x,
                 const Tensor& noise_labels,
                 const Tensor& class_labels = {},
                 const Tensor& augment_labels = {},
                 const at::Generator& training = {}) const;

  // EDM's initialisation.
  void initialise(Rng& rng);
  // Copies the numbers in. Unknown names, missing names and wrong shapes are Errors that name them.
  void load(const std::map<std::string, Tensor>& tensors);

  // The live tensors, in the order of the layers; EDM's names without `model.`.
  std::vector<NamedTensor> parameters() const { return select(false); }
  std::vector<NamedTensor> buffers() const { return select(true); }
  void requires_grad(bool on);

  // Moves the network. Images go through it in `dtype`; the small network that embeds the noise
  // level stays in float32 unless dtype is float64. A CPU keeps float16 weights but computes in
  // float32, for want of half-precision arithmetic.
  void to(at::Device device, at::ScalarType dtype);
  // Moves the parameters, which must be of one type, into one tensor, in their order, each a view
  // of it from then on; and returns it. Optimisers, averages and sums over processes then are a few
  // operations on one tensor instead of a few for each.
  Tensor flatten();
  // The parts of a tensor like flatten()'s that belong to the parameters, in their shapes.
  std::vector<Tensor> split(const Tensor& flat) const;

  // Images go through it in `dtype` while its tensors stay as they are: each is rounded as it is
  // used, and gradients reach it unrounded. For training in mixed precision.
  void compute_in(at::ScalarType dtype) { dtype_ = dtype; }

  const UNetConfig& config() const { return plan_->config; }
  const UNetPlan& plan() const { return *plan_; }
  at::Device device() const { return tensors_.front().device(); }
  at::ScalarType dtype() const { return dtype_; }

  friend UNet with_inputs(const UNet& network, const std::vector<int64_t>& from);

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
};

// The same network with `extra` further input channels whose weights are zero: whatever finite
// numbers those channels hold, the answer is the narrow network's to the last bit.
UNet widen_input(const UNet& narrow, int64_t extra);

// The same network with other input channels: the k-th has the weights of the old channel from[k],
// or zeros where from[k] < 0.
UNet with_inputs(const UNet& network, const std::vector<int64_t>& from);

}  // namespace eps::nets
