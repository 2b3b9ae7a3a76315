// E[x0 | x_t, y] on a GPU by replaying one recording.
#include "eps/methods/recorded_mean.h"

namespace eps {

bool RecordedMean::pays(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  constexpr int64_t kMostPixels = 1 << 19;  // the kernels of more take longer than their launches
  const auto on_host = [](const Tensor& t) { return t.dim() == 0 && t.is_cpu(); };
  return DeviceGraph::available(x_t.device()) && problem.A->recordable() && problem.A->spectral() &&
         !x_t.requires_grad() && x_t.size(0) * x_t.size(2) * x_t.size(3) <= kMostPixels &&
         on_host(c.alpha) && on_host(c.beta) && c.alpha.item<double>() == 1;
}

Tensor RecordedMean::operator()(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  if (!recordable_ || !pays(problem, x_t, c)) return function_(x_t, c);
  if (!is_like_before(x_t)) {
    forget();
    x_t_ = x_t;
    return function_(x_t, c);
  }
  if (!graph_) record(x_t);
  if (!graph_) return function_(x_t, c);
  x_t_.copy_(x_t);
  sigma_.fill_(c.beta.item<double>());
  graph_->replay();
  return mean_.clone();  // the next replay overwrites it
}

void RecordedMean::forget() {
  graph_.reset();
  x_t_ = sigma_ = mean_ = Tensor();
}

bool RecordedMean::is_like_before(const Tensor& x_t) const {
  return x_t_.defined() && x_t_.sizes() == x_t.sizes() && x_t_.dtype() == x_t.dtype() &&
         x_t_.device() == x_t.device();
}

void RecordedMean::record(const Tensor& x_t) {
  x_t_ = x_t.clone();
  sigma_ = at::ones({}, x_t.options().dtype(at::kDouble));
  const Tensor one = scalar(1), zero = scalar(0);
  const auto work = [&] { mean_ = function_(x_t_, {one, sigma_, zero, one}); };
  try {
    graph_ = std::make_unique<const DeviceGraph>(work, /*warm_up=*/1);
  } catch (const c10::Error&) {
    recordable_ = false;
  }
}

}  // namespace eps
