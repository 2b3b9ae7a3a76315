// Training a network.
#include "eps/training/trainer.h"

#include "eps/base/json_fields.h"
#include "eps/training/joined_batch.h"

namespace eps::training {
namespace {

const std::string kParameter = "model.", kAverage = "ema.", kAdamMean = "adam.mean.",
                  kAdamSquare = "adam.square.";

// Returns a copy of the network to train: float32 on its device, in the given arithmetic.
nets::UNet trainable(const Checkpoint& start, at::ScalarType precision) {
  nets::UNet network = start.network.clone();
  network.to(network.device(), at::kFloat);
  network.compute_in(precision);
  network.requires_grad(true);
  return network;
}

nets::UNet averaging(const nets::UNet& network) {
  nets::UNet average = network.clone();
  average.compute_in(at::kFloat);
  return average;
}

// Returns the names of the parameters in a state, whose network may be named for another resolution
// than the one that goes on.
std::vector<std::string> parameter_names(const Safetensors& state) {
  const auto config = state.metadata.find("config");
  check(config != state.metadata.end(), "training state: no \"config\" in its metadata");
  std::vector<std::string> names;
  for (const auto& spec : nets::UNetPlan(parse_model_config(config->second).network).tensors)
    if (!spec.is_buffer) names.push_back(spec.name);
  return names;
}

}  // namespace

Trainer::Trainer(const Checkpoint& start,
                 const BatchSource& source,
                 const TrainerOptions& options,
                 const Ranks& ranks)
    : source_(source),
      options_(options),
      ranks_(ranks),
      start_(start),
      network_(trainable(start, options.precision)),
      average_(averaging(network_)),
      parameters_(network_.flatten()),
      averages_(average_.flatten()),
      gradient_(at::zeros_like(parameters_)),
      adam_(parameters_, options.adam),
      sums_(network_.device()),
      dropout_(make_generator(network_.device())) {
  check(options.batch % ranks.size() == 0,
        "training: a batch of ",
        options.batch,
        " cannot be shared equally by ",
        ranks.size(),
        " processes");
  start_.preconditioning = start.preconditioning.on(network_.device());
  const std::vector<Tensor> gradients = network_.split(gradient_);
  std::vector<Tensor> parameters;
  for (const auto& [name, tensor] : network_.parameters()) {
    tensor.mutable_grad() = gradients[parameters.size()];
    parameters.push_back(tensor);
  }
  follow_first_rank();
  gradient_sum_.emplace(ranks_, parameters, gradient_);
}

Tensor Trainer::answer(const Pass& pass) const {
  return network_.forward(pass.input, pass.noise_label, pass.labels, {}, dropout_)
      .slice(1, 0, network_.config().img_channels);
}

Tensor Trainer::loss_on_answer(const Pass& pass) const {
  const Tensor error = answer(pass) - pass.target;
  return (pass.answer_scale.defined() ? error * pass.answer_scale : error).square().mean({1, 2, 3});
}

void Trainer::backward(const Tensor& loss, int64_t pixels) const {
  // The scale is EDM's: the sum over pixels, the mean over the images of all ranks.
  const double scale =
      static_cast<double>(pixels) * options_.loss_scaling / static_cast<double>(options_.batch);
  (loss.sum() * scale).backward();
}

bool Trainer::can_record() const {
  const nets::UNetConfig& config = network_.config();
  return options_.graph && DeviceGraph::available(network_.device()) && ranks_.size() == 1 &&
         config.dropout == 0 && config.label_dropout == 0 && !options_.loss_on_image;
}

Tensor Trainer::replay(const Pass& pass) {
  if (!graph_) {
    recorded_ = {pass.input.clone(),
                 pass.noise_label.clone(),
                 pass.labels.defined() ? pass.labels.clone() : Tensor(),
                 pass.target.clone(),
                 pass.answer_scale.defined() ? pass.answer_scale.clone() : Tensor()};
    const int64_t pixels = pass.target[0].numel();
    graph_ = std::make_unique<DeviceGraph>([&] {
      const Tensor loss = loss_on_answer(recorded_);
      recorded_loss_ = loss.detach();
      backward(loss, pixels);
    });
    gradient_.zero_();  // clears the recording's; this is the first pass of a run
  }
  recorded_.input.copy_(pass.input);
  recorded_.noise_label.copy_(pass.noise_label);
  recorded_.target.copy_(pass.target);
  if (pass.labels.defined()) recorded_.labels.copy_(pass.labels);
  if (recorded_.answer_scale.defined()) recorded_.answer_scale.copy_(pass.answer_scale);
  graph_->replay();
  return recorded_loss_;
}

void Trainer::accumulate(int64_t first, int64_t count) {
  const TrainingBatch batch = source_.draw(first, count);
  const JoinedBatch all(start_.preconditioning, start_.input, batch);
  const int64_t pixels = all.x0()[0].numel();
  Pass pass{all.input(),
            all.noise_label(),
            network_.config().label_dim > 0 ? all.labels() : Tensor(),
            {},
            {}};
  Tensor loss;
  if (options_.loss_on_image) {
    const Tensor error = all.mean(answer(pass)) - all.x0();
    // The mean of c_out^2 is 0 where nothing is left to learn: all of the image measured, and
    // without noise.
    const Tensor expected = all.mean_square_out().clamp_min(1e-8);
    loss = (error * expected.rsqrt()).square().mean({1, 2, 3});
    backward(loss, pixels);
  } else {
    pass.target = all.target();
    pass.answer_scale = all.answer_scale();
    const bool fits = !graph_ || recorded_.input.sizes() == pass.input.sizes();
    if (can_record() && fits) {
      loss = replay(pass);
    } else {
      loss = loss_on_answer(pass);
      backward(loss, pixels);
    }
  }
  sums_.add(all.sigma(), loss);
}

void Trainer::step() {
  const int64_t share = options_.batch / ranks_.size();
  const int64_t begin = images_seen_ + ranks_.rank() * share, end = begin + share;
  const int64_t pass = options_.micro_batch > 0 ? std::min(options_.micro_batch, share) : share;
  gradient_.zero_();
  dropout_.set_current_seed(
      derive_seed(source_.options().seed, Stream::training_dropout, static_cast<uint64_t>(begin)));
  for (int64_t first = begin; first < end; first += pass) {
    if (first + pass >= end) gradient_sum_->arm();
    accumulate(first, std::min(pass, end - first));
  }
  gradient_sum_->finish();
  gradient_.nan_to_num_(0.0, 1e5, -1e5);
  adam_.step(gradient_, learning_rate());
  averages_.lerp_(
      parameters_,
      1 - ema_weight_at(images_seen_, options_.batch, options_.ema_halflife, options_.ema_rampup));
  images_seen_ += options_.batch;
}

double Trainer::learning_rate() const {
  return learning_rate_at(images_seen_, options_.learning_rate, options_.rampup) *
         decay_at(images_seen_, options_.images, options_.decay);
}

Trainer::Report Trainer::report() {
  return {sums_.take(ranks_), gradient_.norm().item<double>() / options_.loss_scaling};
}

bool Trainer::finite() const {
  return at::isfinite(parameters_).all().item<bool>() && at::isfinite(averages_).all().item<bool>();
}

Checkpoint Trainer::with(const nets::UNet& network) const {
  Checkpoint checkpoint = start_;
  checkpoint.network = network;
  checkpoint.provenance.images_seen = start_.provenance.images_seen + images_seen_;
  return checkpoint;
}

Safetensors Trainer::state() const {
  Safetensors file = to_safetensors(network());
  const auto names = network_.parameters();
  const auto add = [&](const std::string& prefix, const Tensor& flat) {
    const std::vector<Tensor> parts = network_.split(flat);
    for (size_t i = 0; i < parts.size(); ++i)
      file.tensors[prefix + names[i].name] = host_copy(parts[i]);
  };
  add(kAverage, averages_);
  add(kAdamMean, adam_.state().mean);
  add(kAdamSquare, adam_.state().square);
  file.metadata["training"] = json_text({{"images_seen", images_seen_},
                                         {"images_before", start_.provenance.images_seen},
                                         {"images_in_data", source_.data().pictures()},
                                         {"steps", adam_.state().steps}});
  return file;
}

Checkpoint Trainer::network_in(Safetensors state, const std::string& name) {
  std::erase_if(state.tensors, [](const auto& entry) {
    return entry.first.starts_with(kAverage) || entry.first.starts_with("adam.");
  });
  return checkpoint_from(state, name);
}

Checkpoint Trainer::average_in(Safetensors state, const std::string& name) {
  for (auto& [key, tensor] : state.tensors) {
    if (!key.starts_with(kParameter)) continue;
    const auto average = state.tensors.find(kAverage + key.substr(kParameter.size()));
    if (average != state.tensors.end()) tensor = average->second;  // a buffer has none
  }
  return network_in(std::move(state), name);
}

void Trainer::restore(const Safetensors& state) {
  const c10::NoGradGuard no_grad;
  const std::vector<std::string> names = parameter_names(state);
  const int64_t count = std::ssize(names), wanted = network_.plan().parameter_tensors();
  check(count == wanted, "training state: has ", count, " parameters, the network ", wanted);
  const auto load = [&](const std::string& prefix, const Tensor& flat) {
    const std::vector<Tensor> parts = network_.split(flat);
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto found = state.tensors.find(prefix + names[i]);
      check(found != state.tensors.end() && found->second.sizes() == parts[i].sizes(),
            "training state: tensor \"",
            prefix,
            names[i],
            "\" is missing or of another shape than the network's, ",
            to_string(parts[i].sizes()));
      parts[i].copy_(found->second);
    }
  };
  load(kParameter, parameters_);
  load(kAverage, averages_);
  load(kAdamMean, adam_.state().mean);
  load(kAdamSquare, adam_.state().square);
  const auto text = state.metadata.find("training");
  check(text != state.metadata.end(), "training state: no \"training\" in its metadata");
  const Json counts = parse_json(text->second, "training state");
  JsonFields fields(counts, "training state");
  const auto images_in_data = fields.get<int64_t>("images_in_data");
  check(images_in_data == source_.data().pictures(),
        "training state: made with a data set of ",
        images_in_data,
        " images, which cannot become ",
        source_.data().pictures());
  fields.required("images_seen", images_seen_);
  fields.required("images_before", start_.provenance.images_seen);
  fields.required("steps", adam_.state().steps);
  follow_first_rank();
}

// Copies the numbers of rank 0 to all ranks, as files need not be the same on all machines.
void Trainer::follow_first_rank() {
  const Tensor counts =
      at::tensor({images_seen_, adam_.state().steps}, at::kLong).to(parameters_.device());
  for (const Tensor& tensor :
       {parameters_, averages_, adam_.state().mean, adam_.state().square, counts})
    ranks_.broadcast(tensor);
  if (ranks_.size() == 1) return;
  images_seen_ = counts[0].item<int64_t>();
  adam_.state().steps = counts[1].item<int64_t>();
}

BandSums::Means validation_loss(const Checkpoint& model,
                                const BatchSource& held_out,
                                int64_t images,
                                int64_t batch,
                                const Ranks& ranks) {
  const c10::NoGradGuard no_grad;
  BandSums sums(model.network.device());
  const Preconditioning preconditioning = model.preconditioning.on(model.network.device());
  const double data_variance = preconditioning.sigma_data * preconditioning.sigma_data;
  // Chunks are as even as possible: a rank without work would wait for the others.
  batch = std::min(batch, (images + ranks.size() - 1) / ranks.size());
  const int64_t chunks = (images + batch - 1) / batch;
  for (int64_t chunk = ranks.rank(); chunk < chunks; chunk += ranks.size()) {
    const int64_t first = chunk * batch, count = std::min(batch, images - first);
    for (int64_t i = 0; i < bands(); ++i) {
      if (band(i).low >= held_out.sigma_max()) continue;
      const TrainingBatch drawn = held_out.draw_in_band(first, count, band(i));
      const JoinedBatch all(preconditioning, model.input, drawn);
      const Tensor variance = all.sigma().square().flatten();
      const Tensor weight = (variance + data_variance) / (variance * data_variance);
      const Tensor error = denoise(model, all) - all.x0();
      sums.add(all.sigma(), weight * error.square().mean({1, 2, 3}));
    }
  }
  return sums.take(ranks);
}

}  // namespace eps::training
