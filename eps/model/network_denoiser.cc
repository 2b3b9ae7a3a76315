// A trained network as a denoiser.
#include "eps/model/network_denoiser.h"

#include <algorithm>

#include "eps/base/lasting.h"
#include "eps/math/spectrum.h"
#include "eps/model/preconditioned_query.h"
#include "eps/runtime/memory.h"

namespace eps {

NetworkDenoiser::NetworkDenoiser(const Checkpoint& checkpoint, int64_t pass_bytes)
    : network_(checkpoint.network),
      preconditioning_(checkpoint.preconditioning.on(checkpoint.network.device())),
      input_(checkpoint.input),
      pass_bytes_(pass_bytes) {}

std::shared_ptr<const NetworkDenoiser::Sized> NetworkDenoiser::sized_for(const Tensor& x) const {
  const std::lock_guard lock(mutex_);
  const Shape images{x.size(0), network_.config().in_channels, x.size(2), x.size(3)};
  if (sized_ && sized_->images == images) return sized_;
  // The rest is for the images themselves, and for what is beside the network.
  constexpr int64_t kPart = 3;
  // A larger pass saves little: halos are a tenth of the work already.
  constexpr int64_t kMostOnCpu = int64_t{2} << 30;
  const int64_t left = available_memory(x.device()) / kPart;
  const int64_t part = x.is_cpu() ? std::min(left, kMostOnCpu) : left;
  const int64_t bytes = pass_bytes_ > 0 ? pass_bytes_ : part;
  Sized sized{
      images, nets::tiling_for(network_.plan(), network_.dtype(), images, bytes), preconditioning_};
  if (network_.config().is_local() && sized.preconditioning.spectrum.defined())
    sized.preconditioning.spectrum =
        resampled_spectrum(preconditioning_.spectrum, x.size(2), x.size(3));
  sized_ = std::make_shared<const Sized>(std::move(sized));
  return sized_;
}

Tensor NetworkDenoiser::mean(const Query& query) const {
  if (input_.geometry == Geometry::pivot && !query.A) return mean(unmeasured_(input_, query));
  const auto sized = sized_for(query.x);
  // Derivatives need all activations at once.
  if (c10::GradMode::is_enabled() && query.x.requires_grad())
    return denoise(network_, sized->preconditioning, input_, query);
  return denoise(network_, sized->preconditioning, input_, query, sized->tiling);
}

// The other kinds look their noise levels up in tables on the host.
bool NetworkDenoiser::recordable() const {
  using Kind = Preconditioning::Kind;
  const Kind kind = preconditioning_.kind;
  return !network_.is_external() &&
         (kind == Kind::anisotropic || kind == Kind::edm || kind == Kind::vp || kind == Kind::ve);
}

std::optional<NetworkInput> NetworkDenoiser::input_for(const NetworkInput& method) const {
  if (!serves(input_, method)) return {};
  return method.conditional() ? input_ : NetworkInput::prior;
}

Tensor NetworkDenoiser::levels(const Tensor& sigma) const {
  const Tensor inside = at::where(sigma > 0, sigma.clamp(sigma_min(), sigma_max()), sigma);
  return std::get<0>(at::unique_consecutive(rounded_sigma(preconditioning_, inside)));
}

}  // namespace eps
