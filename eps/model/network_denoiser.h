// A trained network as a denoiser for samplers and methods.
#pragma once

#include <mutex>

#include "eps/diffusion/denoiser.h"
#include "eps/model/checkpoint.h"
#include "eps/nets/tiles.h"

namespace eps {

// A `NetworkDenoiser` serves the methods that its checkpoint's input allows (serves()), with
// queries that make_query() builds with the checkpoint's own input. A prior's query to a network of
// the pivot becomes one of UnmeasuredQueries: the network is its own prior. A local network takes
// images of any size, and where they do not fit into memory it is evaluated tile by tile.
class NetworkDenoiser final : public Denoiser {
 public:
  // The denoiser shares the network's tensors. A pass of the network takes at most `pass_bytes`; 0:
  // a part of the memory that is left at the first evaluation of images of a size, on a CPU 2 GB at
  // most.
  explicit NetworkDenoiser(const Checkpoint& checkpoint, int64_t pass_bytes = 0);

  Tensor mean(const Query& query) const override;
  bool recordable() const override;
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override;
  double sigma_min() const override { return preconditioning_.sigma_min(); }
  double sigma_max() const override { return preconditioning_.sigma_max(); }
  // Returns levels in the network's own range, where it has one, rounded to its own noise levels,
  // each of them once.
  Tensor levels(const Tensor& sigma) const override;
  const NetworkInput& input() const { return input_; }

 private:
  // What depends on the size of the images.
  struct Sized {
    Shape images;  // of the network's input
    nets::Tiling tiling;
    Preconditioning preconditioning;  // its spectrum is at the frequencies of the images
  };
  std::shared_ptr<const Sized> sized_for(const Tensor& x) const;

  const nets::UNet network_;
  const Preconditioning preconditioning_;
  const NetworkInput input_;
  const int64_t pass_bytes_;
  const UnmeasuredQueries unmeasured_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Sized> sized_;
};

}  // namespace eps
