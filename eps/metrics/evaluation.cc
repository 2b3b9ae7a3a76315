// Every metric of a set of samples, in one pass over the images.
#include "eps/metrics/evaluation.h"

#include <algorithm>

#include "eps/metrics/calibration.h"
#include "eps/metrics/ensemble.h"
#include "eps/metrics/measured_part.h"

namespace eps {
namespace {

constexpr int64_t kNumbersAtOnce = int64_t{1} << 22;  // in memory together
constexpr int64_t kImagesPerFile = 64;                // whose features are cached together
constexpr int64_t kReplicates = 200;  // a standard error is within 5% or so of its limit

std::string at_least(int64_t count, const std::string& things) {
  const std::string number = count == 2 ? "two" : count == 3 ? "three" : std::to_string(count);
  return "needs " + number + " " + things + " or more";
}

bool has_inception(const MetricNetworks* networks) {
  return networks != nullptr && networks->inception.has_value();
}

// Tells whether a mask leaves anything of any image.
bool anything_measured(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.A->format().measured(at::ones_like(problem.y)).any().item<bool>();
  });
}

class Evaluator {
 public:
  Evaluator(const Tensor& samples, const Tensor& truth, const EvaluationOptions& options)
      : all_{.samples = samples, .truth = truth, .options = options},
        options_(options),
        images_(truth.size(0)),
        missing_part_(options.problems ? missing_part(*options.problems) : "") {}

  Evaluation run() {
    std::vector<const Metric*> of_images, of_features;
    for (const Metric& metric : metrics()) {
      const bool inception = metric.needs.network == MetricNetwork::inception;
      const std::string reason = missing(metric.needs);
      if (!reason.empty()) {
        mark_absent(inception ? feature_name(metric) : metric.name, reason);
      } else {
        (inception ? of_features : of_images).push_back(&metric);
      }
    }
    per_image_metrics(of_images);
    for (const Metric* metric : of_images)
      if (metric->of_all) add_metric(metric->name, metric->of_all(all_));
    if (!of_features.empty()) feature_metrics(of_features);
    return result_;
  }

 private:
  // Returns the first need that is not met as a sentence; empty: all are met.
  std::string missing(const MetricNeeds& needs) const {
    int64_t side = needs.side;
    if (needs.network == MetricNetwork::lpips) {
      const auto* networks = options_.networks;
      const Lpips* lpips = networks ? networks->find_lpips(needs.lpips_net) : nullptr;
      if (!lpips) return "needs LPIPS weights";
      side = lpips->smallest();
    }
    if (needs.network == MetricNetwork::inception && !has_inception(options_.networks))
      return "needs Inception weights";
    if (needs.problems && options_.problems == nullptr)
      return "needs a measurement, its operator and its noise";
    if (needs.problems && !anything_measured(*options_.problems)) return "needs a measurement";
    if (needs.two_parts && !missing_part_.empty()) return missing_part_;
    if (all_.samples.size(0) < needs.samples) return at_least(needs.samples, "samples");
    if (images_ < needs.images) return at_least(needs.images, "images");
    if (std::min(all_.truth.size(-1), all_.truth.size(-2)) < side)
      return "needs images of " + std::to_string(side) + " pixels or more a side";
    return "";
  }
  std::string feature_name(const Metric& metric) const {
    if (!has_inception(options_.networks)) return metric.name;
    return metric_name(metric.name, options_.networks->inception->dimensions().front());
  }

  void add_metric(const std::string& name, const Statistic& statistic) {
    result_.metrics[name] = bootstrap(statistic, images_, kReplicates, options_.seed);
  }
  void mark_absent(const std::string& name, const std::string& reason) {
    result_.absent[name] = reason;
  }

  void per_image_metrics(const std::vector<const Metric*>& metrics) {
    const int64_t size = all_.samples.size(0) * all_.truth[0].numel();
    const int64_t chunk = std::max<int64_t>(1, kNumbersAtOnce / size);
    std::map<const Metric*, std::vector<Tensor>> values;
    std::vector<Tensor> histograms;
    for (int64_t begin = 0; begin < images_; begin += chunk) {
      const Ensemble batch{.samples = all_.samples.slice(1, begin, begin + chunk).to(at::kDouble),
                           .truth = all_.truth.slice(0, begin, begin + chunk).to(at::kDouble),
                           .options = options_,
                           .first = begin};
      for (const Metric* metric : metrics)
        if (metric->per_image) values[metric].push_back(metric->per_image(batch));
      if (batch.samples.size(0) > 1) histograms.push_back(rank_histograms(batch));
    }
    for (const auto& [metric, parts] : values)
      add_metric(metric->name, metric->statistic(at::cat(parts)));
    if (histograms.empty()) return;
    const Tensor mean = at::cat(histograms).mean(0).contiguous();
    result_.ranks.assign(mean.data_ptr<double>(), mean.data_ptr<double>() + mean.numel());
  }

  void feature_metrics(const std::vector<const Metric*>& metrics) {
    const std::vector<Tensor> truth = features(all_.truth);
    std::vector<std::vector<Tensor>> samples(truth.size());
    for (const Tensor& sample : all_.samples.unbind(0)) {
      const auto each = features(sample);
      for (size_t i = 0; i < each.size(); ++i) samples[i].push_back(each[i]);
    }
    for (size_t i = 0; i < truth.size(); ++i) {
      const Ensemble set{.samples = at::stack(samples[i]), .truth = truth[i], .options = options_};
      for (const Metric* metric : metrics)
        if (i == 0 || metric->every_length)
          add_metric(
              metric_name(metric->name, truth[i].size(1)),
              metric->of_all ? metric->of_all(set) : metric->statistic(metric->per_image(set)));
    }
  }

  // Returns features of each length, in parts that are cached one by one.
  std::vector<Tensor> features(const Tensor& images) const {
    const MetricNetworks& networks = *options_.networks;
    std::vector<std::vector<Tensor>> parts(networks.inception->dimensions().size());
    for (int64_t begin = 0; begin < images.size(0); begin += kImagesPerFile) {
      const Tensor part = images.slice(0, begin, begin + kImagesPerFile).to(at::kFloat);
      const auto each = networks.cache.features(*networks.inception, networks.inception_hash, part);
      for (size_t i = 0; i < each.size(); ++i) parts[i].push_back(each[i]);
    }
    std::vector<Tensor> whole;
    for (const auto& part : parts) whole.push_back(at::cat(part));
    return whole;
  }

  const Ensemble all_;
  const EvaluationOptions& options_;
  const int64_t images_;
  const std::string missing_part_;
  Evaluation result_;
};

}  // namespace

Evaluation evaluate(const Tensor& samples, const Tensor& truth, const EvaluationOptions& options) {
  check(samples.dim() == 5 && truth.dim() == 4 && samples.sizes().slice(1) == truth.sizes() &&
            samples.numel() > 0,
        "evaluate: samples are S x N x C x H x W and truth N x C x H x W, got ",
        to_string(samples.sizes()),
        " and ",
        to_string(truth.sizes()));
  const c10::NoGradGuard no_gradients;
  return Evaluator(samples, truth, options).run();
}

}  // namespace eps
