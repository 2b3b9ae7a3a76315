// A batch of groups as one pass through a network.
#include "eps/training/joined_batch.h"

namespace eps::training {
namespace {

// Joins tensors along the batch; one tensor needs no copy.
Tensor join(const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : at::cat(parts);
}

}  // namespace

JoinedBatch::JoinedBatch(const Preconditioning& preconditioning,
                         const NetworkInput& input,
                         const TrainingBatch& batch)
    : scaled_(preconditioning.prior_mean == "neighbours") {
  check(!batch.groups.empty(), "JoinedBatch: no group");
  std::vector<Tensor> x0, sigma, labels;
  int64_t end = 0;
  for (const TrainingGroup& group : batch.groups) {
    queries_.emplace_back(preconditioning, group.query, input);
    ends_.push_back(end += group.x0.size(0));
    x0.push_back(group.x0);
    sigma.push_back(group.query.sigma);
    if (group.query.labels.defined()) labels.push_back(group.query.labels);
  }
  x0_ = join(x0);
  sigma_ = join(sigma);
  if (!labels.empty()) labels_ = join(labels);
}

template <class F>
Tensor JoinedBatch::joined(const F& f) const {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (size_t i = 0; i < queries_.size(); ++i) {
    parts.push_back(f(queries_[i], begin, ends_[i]));
    begin = ends_[i];
  }
  return join(parts);
}

Tensor JoinedBatch::input() const {
  return joined([](const auto& query, int64_t, int64_t) { return query.input(); });
}

Tensor JoinedBatch::noise_label() const {
  return joined([](const auto& query, int64_t, int64_t) { return query.noise_label(); });
}

Tensor JoinedBatch::mean(const Tensor& answer) const {
  return joined([&](const auto& query, int64_t begin, int64_t end) {
    return query.mean(answer.slice(0, begin, end));
  });
}

Tensor JoinedBatch::target() const {
  return joined([&](const auto& query, int64_t begin, int64_t end) {
    return query.target(x0_.slice(0, begin, end));
  });
}

Tensor JoinedBatch::answer_scale() const {
  if (!scaled_) return {};
  return joined([&](const auto& query, int64_t begin, int64_t end) {
    const Tensor x0 = x0_.slice(0, begin, end), &scale = query.answer_scale();
    return scale.defined() ? scale.expand_as(x0) : at::ones_like(x0);
  });
}

Tensor JoinedBatch::mean_square_out() const {
  return joined([](const auto& query, int64_t begin, int64_t end) {
    return query.mean_square_out().expand({end - begin, 1, 1, 1});
  });
}

Tensor denoise(const Checkpoint& model, const JoinedBatch& batch) {
  const nets::UNetConfig& config = model.network.config();
  const Tensor answer = model.network.forward(
      batch.input(), batch.noise_label(), config.label_dim > 0 ? batch.labels() : Tensor());
  return batch.mean(answer.slice(1, 0, config.img_channels));
}

}  // namespace eps::training
