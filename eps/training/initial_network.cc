// The network a run begins with.
#include "eps/training/initial_network.h"

#include "eps/io/images/image.h"
#include "eps/io/torch/any_checkpoint.h"
#include "eps/model/bundled.h"

namespace eps::training {
namespace {

constexpr int64_t kSpectrumImages = 4096;  // enough for each of its numbers to 2%

// Channels beside c_in x.
int64_t extra_channels(Input input, bool show_skip, const nets::UNetConfig& network) {
  return side_channels(input, network.img_channels) + (show_skip ? network.img_channels : 0);
}

nets::UNetConfig network_for(const TrainingConfig& config, const Dataset& data) {
  const bool adm = config.arch == "adm";
  nets::UNetConfig network = nets::unet_preset(
      config.preset == "ffhq64" || config.preset == "imagenet64" ? config.preset
                                                                 : (adm ? "imagenet64" : "ffhq64"));
  if (config.preset == "tiny") {
    network.model_channels = adm ? 32 : 16;
    network.channel_mult = {1, 2};
    network.num_blocks = 1;
    network.attn_resolutions = {};
    network.dropout = 0;
  } else if (config.preset == "small") {
    network.model_channels = 64;
    network.channel_mult = adm ? std::vector<int64_t>{1, 2, 2} : std::vector<int64_t>{1, 2, 2, 2};
    network.num_blocks = 2;
    network.attn_resolutions = {16};
    network.dropout = 0;
  }
  if (config.dropout >= 0) network.dropout = config.dropout;
  network.augment_dim = 0;  // nothing is augmented but for mirror images
  network.img_resolution = data.images.size(3);
  network.img_channels = network.out_channels = data.images.size(1);
  network.in_channels =
      network.img_channels + extra_channels(parse_input(config.input), config.show_skip, network);
  network.label_dim = data.label_dim;
  validate(network);
  return network;
}

// The network in the file, with room for what this run shows it.
Checkpoint warm_start(const TrainingConfig& config, const Dataset& data) {
  const Safetensors file = read_any_checkpoint(find_model(config.start));
  check(!file.metadata.contains("training"),
        config.start,
        ": the state of a run; start from the network.safetensors beside it, or resume the run");
  Checkpoint start = checkpoint_from(file, config.start);
  const nets::UNetConfig& network = start.network.config();
  check_fits(network, data, config.start);
  const Input input = parse_input(config.input);
  const bool skip_before = start.preconditioning.show_skip;
  const bool skip = skip_before || config.show_skip;
  const int64_t own = network.in_channels - network.img_channels;
  const int64_t wanted = extra_channels(input, skip, network);
  // What eps shows is the first half of what eps_precision does; c_skip x comes last.
  const bool as_it_says = own == extra_channels(start.input, skip_before, network);
  const bool goes_on =
      start.input == input || (start.input == Input::eps && input == Input::eps_precision);
  if (wanted > own && (own == 0 || (as_it_says && goes_on && !skip_before))) {
    start.network = nets::widen_input(start.network, wanted - own);
    return start;
  }
  // The same number of channels may be another input: Palette can become EPS.
  check(own == wanted && skip == skip_before,
        config.start,
        ": a network with ",
        own,
        " side channels for the input ",
        to_string(start.input),
        "; ",
        config.input,
        skip ? " with show_skip has " : " has ",
        wanted);
  return start;
}

}  // namespace

void check_fits(const nets::UNetConfig& network, const Dataset& data, const std::string& name) {
  const auto wants = [&](const char* what, int64_t own, int64_t given) {
    check(own == given, name, ": a network for ", own, " ", what, "; the data have ", given);
  };
  wants("channels", network.img_channels, data.images.size(1));
  wants("pixels a side", network.img_resolution, data.images.size(3));
  wants("pixels a side", network.img_resolution, data.images.size(2));
  if (network.label_dim > 0) wants("classes", network.label_dim, data.label_dim);
}

Checkpoint initial_network(const TrainingConfig& config, const Dataset& data) {
  using Kind = Preconditioning::Kind;
  Checkpoint start = config.start.empty()
                         ? Checkpoint{.network = nets::UNet(network_for(config, data))}
                         : warm_start(config, data);
  if (config.start.empty()) {
    Rng rng(static_cast<uint64_t>(config.seed));
    start.network.initialise(rng);
  }
  Preconditioning& p = start.preconditioning;
  const bool show_skip = p.show_skip || config.show_skip;
  if (config.preconditioning == "edm") p = {.sigma_data = p.sigma_data, .scale_side = p.scale_side};
  if (config.preconditioning == "anisotropic") {
    p = {.kind = Kind::anisotropic,
         .sigma_data = p.sigma_data,
         .prior_variance = config.prior_variance,
         .scale_side = p.scale_side};
    if (config.prior_variance != "constant") {
      // Spread over the set: it may be sorted by class.
      const int64_t step = std::max<int64_t>(data.size() / kSpectrumImages, 1);
      const Tensor images = data.images.slice(0, 0, step * kSpectrumImages, step);
      p.spectrum = power_spectrum(images.scalar_type() == at::kByte ? from_uint8(images) : images);
    }
  }
  p.scale_side = p.scale_side || config.scale_side;
  check(!show_skip || p.kind == Kind::anisotropic,
        config.start,
        ": a network shown c_skip x wants preconditioning=anisotropic");
  p.show_skip = show_skip;
  start.input = parse_input(config.input);
  start.use_fp16 = config.precision == "float16";
  start.provenance = {.data = names_of_sources(config.data),
                      .images_seen = start.provenance.images_seen,
                      .tasks = config.tasks,
                      .sigma_y = config.tasks.empty() ? "" : config.sigma_y};
  return start;
}

}  // namespace eps::training
