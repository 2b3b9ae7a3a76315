// Every metric of a set of samples, in one pass over the images.
#include "eps/metrics/evaluation.h"

#include "eps/metrics/bootstrap.h"
#include "eps/metrics/calibration.h"
#include "eps/metrics/consistency.h"
#include "eps/metrics/frechet.h"
#include "eps/metrics/mmd.h"
#include "eps/metrics/psnr.h"
#include "eps/metrics/scores.h"
#include "eps/metrics/ssim.h"

namespace eps {
namespace {

constexpr int kLevels[] = {50, 80, 90, 95};
// Errors are those of images in [0, 1], half of those in [-1, 1].
constexpr double kUnit = 0.5;

class Evaluator {
 public:
  Evaluator(const Tensor& samples, const Tensor& truth, const EvaluationOptions& options)
      : samples_(samples),
        truth_(truth),
        options_(options),
        count_(samples.size(0)),
        images_(samples.size(1)) {}

  Evaluation run() {
    const int64_t chunk = std::max<int64_t>(1, kChunk / (count_ * truth_[0].numel()));
    for (int64_t begin = 0; begin < images_; begin += chunk)
      look_at(begin, std::min(begin + chunk, images_));
    for (const auto& [name, values] : per_image_) take(name, mean_of(at::cat(values)));
    take_calibration();
    take_consistency();
    if (images_ < 3) {
      miss({"mmd_paired", "mmd_paired_floor", "mmd_unpaired"}, "needs three images or more");
    } else {
      take_mmd("mmd_paired", "mmd_paired_floor", "mmd_unpaired", samples_, truth_);
    }
    take_features();
    return result_;
  }

 private:
  static constexpr int64_t kChunk = int64_t{1} << 22;  // numbers in memory together

  void take(const std::string& name, const Statistic& statistic) {
    result_.metrics[name] = bootstrap(statistic, images_, 200, options_.seed);
  }
  void miss(const std::vector<std::string>& names, const std::string& reason) {
    for (const auto& name : names) result_.absent[name] = reason;
  }
  void add(const std::string& name, const Tensor& values) { per_image_[name].push_back(values); }

  // What can be said of the images [begin, end) without the others.
  void look_at(int64_t begin, int64_t end) {
    const Tensor samples = samples_.slice(1, begin, end).to(at::kDouble);
    const Tensor truth = truth_.slice(0, begin, end).to(at::kDouble);
    const Tensor mean = samples.mean(0);
    add("psnr", psnr(samples, truth).mean(0));
    add("psnr_of_mean", psnr(mean, truth));
    look_at_structure(samples, mean, truth);
    look_with_networks(samples, truth);
    for (const auto estimator : {Estimator::standard, Estimator::fair}) {
      if (estimator == Estimator::fair && count_ < 2) continue;
      const std::string suffix = estimator == Estimator::fair ? "_fair" : "";
      add("crps" + suffix, kUnit * crps(samples, truth, estimator));
      add("energy_score" + suffix, kUnit * energy_score(samples, truth, estimator));
    }
    if (count_ >= 2) look_at_spread(samples, truth, begin, end);
  }

  void look_at_structure(const Tensor& samples, const Tensor& mean, const Tensor& truth) {
    if (std::min(truth.size(-1), truth.size(-2)) < kSsimWindow)
      return miss({"ssim", "ssim_reflect", "ssim_of_mean"},
                  "needs images of 11 pixels or more a side");
    add("ssim", ssim(samples, truth).mean(0));
    add("ssim_reflect", ssim(samples, truth, SsimBorder::reflect).mean(0));
    add("ssim_of_mean", ssim(mean, truth));
  }

  void look_with_networks(const Tensor& samples, const Tensor& truth) {
    miss({"lpips", "lpips_alex", "lpips_vgg", "lpips_squeeze"}, "needs --lpips FILE");
    if (options_.judges == nullptr) return;
    for (const Lpips& lpips : options_.judges->lpips) {
      Tensor sum = at::zeros({truth.size(0)}, at::kDouble);
      for (int64_t k = 0; k < count_; ++k) sum += lpips(samples[k], truth);
      const Tensor values = sum / static_cast<double>(count_);
      if (&lpips == &options_.judges->lpips.front()) add("lpips", values);
      add("lpips_" + lpips.net(), values);
      result_.absent.erase("lpips");
      result_.absent.erase("lpips_" + lpips.net());
    }
  }

  void look_at_spread(const Tensor& samples, const Tensor& truth, int64_t begin, int64_t end) {
    std::vector<uint64_t> numbers;
    for (int64_t i = begin; i < end; ++i) numbers.push_back(static_cast<uint64_t>(i));
    Rng ties(derive_seed(options_.seed, Stream::rank_ties), numbers);
    histograms_.push_back(rank_histograms(samples, truth, ties));
    const SpreadSkill parts = spread_skill(samples, truth);
    variances_.push_back(parts.variance);
    errors_.push_back(parts.squared_error);
    add("coverage_range", range_coverage(samples, truth));
    for (const int level : kLevels) {
      const std::string name = "coverage_" + std::to_string(level);
      const int64_t wanted = samples_for_level(level / 100.0);
      if (count_ >= wanted) {
        add(name, coverage(samples, truth, level / 100.0));
      } else {
        miss({name}, "needs " + std::to_string(wanted) + " samples or more");
      }
    }
  }

  void take_calibration() {
    if (count_ < 2)
      return miss({"crps_fair",
                   "energy_score_fair",
                   "coverage_range",
                   "coverage_50",
                   "coverage_80",
                   "coverage_90",
                   "coverage_95",
                   "rank_deviation",
                   "rank_chi2",
                   "spread_skill"},
                  "needs two samples or more");
    const Tensor histograms = at::cat(histograms_);
    const Tensor mean = histograms.mean(0).contiguous();
    result_.ranks.assign(mean.data_ptr<double>(), mean.data_ptr<double>() + mean.numel());
    take("rank_deviation", rank_deviation(histograms));
    if (images_ < 2) {
      miss({"rank_chi2"}, "needs two images or more");
    } else {
      take("rank_chi2", rank_chi2(histograms));
    }
    take("spread_skill", spread_skill_ratio({at::cat(variances_), at::cat(errors_)}));
  }

  void take_consistency() {
    if (options_.problems == nullptr)
      return miss({"chi2"}, "needs a measurement, its operator and its noise");
    std::vector<Tensor> values;
    int64_t begin = 0;
    for (const Problem& problem : *options_.problems) {
      const int64_t end = begin + problem.y.size(0);
      Tensor sum = at::zeros({end - begin}, at::kDouble);
      for (int64_t k = 0; k < count_; ++k) {
        const Tensor images = samples_[k].slice(0, begin, end).to(problem.y.device(), at::kDouble);
        sum += chi_square(problem, images).to(at::kCPU);
      }
      values.push_back(sum / static_cast<double>(count_));
      begin = end;
    }
    // An image without any measurement (a mask that hides all of it) has no chi2.
    const Tensor all = at::cat(values), measured = all.isnan().logical_not().to(at::kDouble);
    if (measured.sum().item<double>() == 0) return miss({"chi2"}, "needs a measurement");
    const auto mean = [v = all.nan_to_num(), measured](const Tensor& weights) {
      return ((v * measured * weights).sum() / (measured * weights).sum()).item<double>();
    };
    take("chi2", {mean, all.isnan().sum().item<int64_t>() + 1});
  }

  void take_mmd(const std::string& paired,
                const std::string& floor,
                const std::string& unpaired,
                const Tensor& samples,
                const Tensor& truth) {
    const MmdStatistics statistics = mmd(samples, truth);
    take(paired, statistics.paired);
    take(floor, statistics.floor);
    take(unpaired, statistics.unpaired);
  }

  void take_features() {
    static const std::vector<std::string> all = {"fid",
                                                 "crps_inception",
                                                 "crps_inception_fair",
                                                 "energy_score_inception",
                                                 "energy_score_inception_fair",
                                                 "mmd_paired_inception",
                                                 "mmd_paired_inception_floor",
                                                 "mmd_unpaired_inception"};
    if (options_.judges == nullptr || !options_.judges->inception)
      return miss(all, "needs --inception FILE");
    const int64_t length = options_.judges->inception->dimensions().front();
    if (images_ < 3) {
      for (const auto& name : all) miss({metric_name(name, length)}, "needs three images or more");
      return;
    }
    const std::vector<Tensor> truth = features(truth_);
    std::vector<std::vector<Tensor>> samples(truth.size());
    for (int64_t k = 0; k < count_; ++k) {
      const auto each = features(samples_[k]);
      for (size_t i = 0; i < each.size(); ++i) samples[i].push_back(each[i]);
    }
    for (size_t i = 0; i < truth.size(); ++i) {
      const Tensor all_samples = at::stack(samples[i]);
      take(metric_name("fid", truth[i].size(1)), frechet_distance(all_samples, truth[i]));
      if (i == 0) take_feature_scores(all_samples, truth[i]);
    }
  }

  // The scores of samples and truth as feature vectors.
  void take_feature_scores(const Tensor& samples, const Tensor& truth) {
    const auto name = [&](const std::string& general) {
      return metric_name(general, truth.size(1));
    };
    take(name("crps_inception"), mean_of(crps(samples, truth, Estimator::standard)));
    take(name("energy_score_inception"),
         mean_of(energy_score(samples, truth, Estimator::standard)));
    if (count_ < 2) {
      miss({name("crps_inception_fair"), name("energy_score_inception_fair")},
           "needs two samples or more");
    } else {
      take(name("crps_inception_fair"), mean_of(crps(samples, truth, Estimator::fair)));
      take(name("energy_score_inception_fair"),
           mean_of(energy_score(samples, truth, Estimator::fair)));
    }
    take_mmd(name("mmd_paired_inception"),
             name("mmd_paired_inception_floor"),
             name("mmd_unpaired_inception"),
             samples,
             truth);
  }

  // In parts that are cached one by one.
  std::vector<Tensor> features(const Tensor& images) const {
    constexpr int64_t kPart = 64;
    const MetricNetworks& judges = *options_.judges;
    std::vector<std::vector<Tensor>> parts(judges.inception->dimensions().size());
    for (int64_t begin = 0; begin < images.size(0); begin += kPart) {
      const Tensor part = images.slice(0, begin, begin + kPart).to(at::kFloat);
      const auto each = judges.cache.features(*judges.inception, judges.inception_hash, part);
      for (size_t i = 0; i < each.size(); ++i) parts[i].push_back(each[i]);
    }
    std::vector<Tensor> whole;
    for (const auto& part : parts) whole.push_back(at::cat(part));
    return whole;
  }

  const Tensor& samples_;
  const Tensor& truth_;
  const EvaluationOptions& options_;
  const int64_t count_, images_;
  std::map<std::string, std::vector<Tensor>> per_image_;
  std::vector<Tensor> histograms_, variances_, errors_;
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
