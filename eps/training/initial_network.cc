// The network a training run begins with.
#include "eps/training/initial_network.h"

#include <algorithm>
#include <numeric>

#include "eps/io/images/image.h"
#include "eps/model/bundled.h"
#include "eps/model/foreign/families.h"
#include "eps/training/architecture.h"

namespace eps::training {
namespace {

constexpr int64_t kSpectrumImages = 4096;  // enough for each power to 2%

nets::UNetConfig network_for(const TrainingConfig& config, const ImageSet& data) {
  nets::UNetConfig network = architecture_of(config);
  const Shape shape = data.image_shape();
  network.img_resolution = shape[2];
  network.img_channels = network.out_channels = shape[0];
  network.in_channels = network_input(config).channels(network.img_channels);
  network.label_dim = data.label_width();
  validate(network);
  return network;
}

// Returns the input of the run: a starting network keeps its skip and the scale of its side.
NetworkInput input_of_run(const TrainingConfig& config, const NetworkInput& start) {
  NetworkInput input = network_input(config);
  if (start.has(Channel::skip)) input = input.with(Channel::skip);
  input.scale_side = input.scale_side || start.scale_side;
  return input;
}

// Returns the place of each new input channel among the old ones, channel by channel of the image;
// -1: the channel is new.
std::vector<int64_t> places(const NetworkInput& before,
                            const NetworkInput& after,
                            int64_t image_channels) {
  std::vector<int64_t> from(static_cast<size_t>(image_channels));
  std::iota(from.begin(), from.end(), 0);
  for (const Channel channel : after.side) {
    const auto found = std::find(before.side.begin(), before.side.end(), channel);
    const int64_t begin = image_channels * (1 + (found - before.side.begin()));
    for (int64_t k = 0; k < image_channels; ++k)
      from.push_back(found == before.side.end() ? -1 : begin + k);
  }
  return from;
}

// Returns the power spectrum of images spread over the set, which may be sorted by class.
Tensor spectrum_of(const ImageSet& data) {
  const int64_t step = std::max<int64_t>(data.size() / kSpectrumImages, 1);
  std::vector<int64_t> places;
  for (int64_t place = 0; place < std::min(data.size(), step * kSpectrumImages); place += step)
    places.push_back(place);
  Rng rng(derive_seed(kHeldOutSeed, Stream::training_crop, 1), std::ssize(places));
  return power_spectrum(data.draw(places, rng, at::kCPU).images);
}

// Returns the same network for images of the set's side, with their spectrum.
Checkpoint at_side_of(const ImageSet& data, Checkpoint network) {
  const int64_t side = data.image_shape()[2];
  if (side == network.network.config().img_resolution) return network;
  network.network = nets::at_resolution(network.network, side);
  Tensor& spectrum = network.preconditioning.spectrum;
  if (spectrum.defined()) spectrum = spectrum_of(data);
  return network;
}

// Returns the network in the file, its input channels rearranged for this run's input.
Checkpoint warm_start(const TrainingConfig& config, const ImageSet& data) {
  const Safetensors file = read_network(find_model(config.start));
  check(!file.metadata.contains("training"),
        config.start,
        ": the state of a run; start from the network.safetensors beside it, or resume the run");
  Checkpoint start = checkpoint_from(file, config.start);
  const nets::UNetConfig& network = start.network.config();
  check_fits(network, data, config.start);
  if (network.is_local()) start = at_side_of(data, std::move(start));
  const NetworkInput input = input_of_run(config, start.input);
  const int64_t own = network.in_channels, wanted = input.channels(network.img_channels);
  const bool as_it_says = own == start.input.channels(network.img_channels);
  const bool keeps_all = std::all_of(start.input.side.begin(),
                                     start.input.side.end(),
                                     [&](Channel channel) { return input.has(channel); });
  // Foreign files need not name their side channels: the number of channels decides.
  check(as_it_says ? keeps_all : own == wanted || own == network.img_channels,
        config.start,
        ": a network with ",
        own - network.img_channels,
        " side channels for the input ",
        to_string(start.input.without(Channel::skip)),
        "; ",
        config.input,
        input.has(Channel::skip) ? " with show_skip has " : " has ",
        wanted - network.img_channels);
  if (as_it_says && start.input.side != input.side)
    start.network =
        nets::with_inputs(start.network, places(start.input, input, network.img_channels));
  else if (own < wanted)
    start.network = nets::widen_input(start.network, wanted - own);
  return start;
}

}  // namespace

void check_fits(const nets::UNetConfig& network, const ImageSet& data, const std::string& name) {
  const Shape shape = data.image_shape();
  const auto wants = [&](const char* what, int64_t own, int64_t given) {
    check(own == given, name, ": a network for ", own, " ", what, "; the data have ", given);
  };
  wants("channels", network.img_channels, shape[0]);
  // A local network has the side of its crops, and takes any other.
  if (!network.is_local()) {
    wants("pixels a side", network.img_resolution, shape[2]);
    wants("pixels a side", network.img_resolution, shape[1]);
  }
  if (network.label_dim > 0) wants("classes", network.label_dim, data.label_width());
}

Checkpoint initial_network(const TrainingConfig& config, const ImageSet& data) {
  using Kind = Preconditioning::Kind;
  Checkpoint start = config.start.empty()
                         ? Checkpoint{.network = nets::UNet(network_for(config, data))}
                         : warm_start(config, data);
  if (config.start.empty()) {
    Rng rng(static_cast<uint64_t>(config.seed));
    start.network.initialise(rng);
  }
  start.input = input_of_run(config, start.input);
  Preconditioning& p = start.preconditioning;
  if (config.sigma_data > 0) p.sigma_data = config.sigma_data;
  if (config.preconditioning == "edm") p = {.sigma_data = p.sigma_data};
  if (config.preconditioning == "anisotropic") {
    p = {.kind = Kind::anisotropic,
         .sigma_data = p.sigma_data,
         .prior_variance = config.prior_variance,
         .prior_mean = config.prior_mean};
    if (config.prior_variance != "constant") p.spectrum = spectrum_of(data);
  }
  check(!start.input.has(Channel::skip) || p.kind == Kind::anisotropic,
        config.start,
        ": a network with the input c_skip x needs preconditioning=anisotropic");
  start.gpu_arithmetic = precision_of(config);
  start.provenance = {.data = names_of_sources(config.data),
                      .images_seen = start.provenance.images_seen,
                      .tasks = config.tasks,
                      .sigma_y = config.tasks.empty() ? "" : config.sigma_y};
  return start;
}

Checkpoint resumed_network(Checkpoint state, const TrainingConfig& config, const ImageSet& data) {
  return config.crop == 0 ? state : at_side_of(data, std::move(state));
}

}  // namespace eps::training
