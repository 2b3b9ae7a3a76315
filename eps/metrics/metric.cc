// The table of metrics, and their names for features of other lengths.
#include "eps/metrics/metric.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <regex>

#include "eps/base/spec.h"

namespace eps {
namespace {

// The length that FID is defined with; its metrics go by their general names.
constexpr int64_t kFidFeatures = 2048;

std::vector<Metric> image_metrics() {
  using enum Better;
  return {
      {"psnr",
       "PSNR",
       "peak signal-to-noise ratio of a sample, dB; higher is better",
       higher,
       0,
       2},
      {"psnr_of_mean",
       "PSNR of mean",
       "PSNR of the mean of an image's samples, dB; higher is better",
       higher,
       0,
       2},
      {"ssim",
       "SSIM",
       "structural similarity of a sample, windows inside the image; 1 is perfect",
       higher},
      {"ssim_reflect",
       "SSIM reflect",
       "structural similarity of a sample, the image mirrored at its edges; 1 is perfect",
       higher},
      {"ssim_of_mean", "SSIM of mean", "SSIM of the mean of an image's samples", higher},
      {"lpips",
       "LPIPS",
       "learned perceptual distance of a sample, by the first weights given; lower is better"},
      {"lpips_alex", "LPIPS-Alex", "LPIPS by AlexNet; lower is better"},
      {"lpips_vgg", "LPIPS-VGG", "LPIPS by VGG16; lower is better"},
      {"lpips_squeeze", "LPIPS-Squeeze", "LPIPS by SqueezeNet; lower is better"},
      {"fid",
       "FID",
       "Frechet distance of all samples from all truths, by Inception features; lower is better",
       lower,
       0,
       2},
  };
}

std::vector<Metric> score_metrics() {
  using enum Better;
  return {
      {"crps", "CRPS", "per pixel in [0, 1], spread over all pairs (1/S^2); lower is better"},
      {"crps_fair",
       "CRPS fair",
       "CRPS with the unbiased spread, 1/(S (S - 1)); lower is better, for any S"},
      {"energy_score",
       "Energy score",
       "CRPS with the L2 norm over all pixels in [0, 1], as the paper's CRPS-pixel; lower is "
       "better",
       lower,
       0,
       3},
      {"energy_score_fair",
       "Energy fair",
       "energy score with the unbiased spread, 1/(S (S - 1)); lower is better, for any S",
       lower,
       0,
       3},
      {"crps_inception", "CRPS-Inception", "CRPS, mean over Inception features; lower is better"},
      {"crps_inception_fair",
       "CRPS-Inception fair",
       "CRPS with the unbiased spread, mean over Inception features; lower is better, for any S"},
      {"energy_score_inception",
       "Energy-Inception",
       "energy score of Inception features, as the paper's CRPS-Inception; lower is better",
       lower,
       0,
       3},
      {"energy_score_inception_fair",
       "Energy-Inception fair",
       "energy score of Inception features with the unbiased spread; lower is better, for any S",
       lower,
       0,
       3},
  };
}

// The three of pixels or of features; `infix` and `tag` go into names and labels.
std::vector<Metric> mmd_metrics(const std::string& infix,
                                const std::string& tag,
                                const std::string& space) {
  using enum Better;
  return {
      {"mmd_paired" + infix,
       "MMD2" + tag + " paired",
       "squared MMD of " + space + ", own truths included, as in the paper; lower is better",
       lower,
       0,
       5},
      {"mmd_paired" + infix + "_floor",
       "MMD2" + tag + " floor",
       "mmd_paired" + infix + " of samples that are their truths, by " + space +
           ": the least to expect",
       lower,
       0,
       5},
      {"mmd_unpaired" + infix,
       "MMD2" + tag + " unpaired",
       "squared MMD of " + space + " without pairs of one image: unbiased; 0 is perfect",
       lower,
       0,
       5},
  };
}

std::vector<Metric> calibration_metrics() {
  using enum Better;
  const auto coverage = [](const std::string& percent) {
    return Metric{"coverage_" + percent,
                  "Coverage " + percent,
                  "part of the true pixels inside the central " + percent + "% of the samples",
                  target,
                  std::stod(percent) / 100,
                  3};
  };
  return {
      coverage("50"),
      coverage("80"),
      coverage("90"),
      coverage("95"),
      {"coverage_range",
       "Coverage range",
       "part of the true pixels between least and greatest sample; wanted: (S - 1)/(S + 1)",
       target,
       std::numeric_limits<double>::quiet_NaN(),
       3},
      {"rank_deviation",
       "Rank deviation",
       "sum of |fraction - 1/(S + 1)| over ranks of true pixels among samples; 0 is calibrated"},
      {"rank_chi2",
       "Rank chi2",
       "squared deviation of ranks over what chance gives; 1 is calibrated",
       target,
       1,
       2},
      {"spread_skill",
       "Spread/skill",
       "spread of samples over error of their mean; 1 is calibrated, less is too sure",
       target,
       1,
       3},
      {"chi2",
       "chi2",
       "|y - A x|^2 / (sigma_y^2 M) of a sample; 1 for the truth and for exact samples",
       target,
       1,
       3},
  };
}

std::string replace(const std::string& text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : std::string(text).replace(at, what.size(), by);
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> joined;
    for (const auto& part : {image_metrics(),
                             score_metrics(),
                             mmd_metrics("", "", "images"),
                             mmd_metrics("_inception", "-Inception", "Inception features"),
                             calibration_metrics()}) {
      joined.insert(joined.end(), part.begin(), part.end());
    }
    return joined;
  }();
  return all;
}

std::string metric_name(const std::string& general, int64_t features) {
  if (features == kFidFeatures) return general;
  const std::string length = fmt::format("_{}", features);
  return general == "fid" ? general + length : replace(general, "_inception", length);
}

Metric find_metric(const std::string& name) {
  std::smatch length;
  const bool has_length = std::regex_search(name, length, std::regex("_([1-9][0-9]{0,6})(_|$)"));
  const int64_t features = has_length ? std::stoll(length[1]) : kFidFeatures;
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) {
    if (metric.name == name) return metric;
    if (metric_name(metric.name, features) == name) {
      const std::string label = metric.name == "fid" ? "FID-Inception" : metric.label;
      Metric found = metric;
      found.name = name;
      found.label = replace(label, "Inception", length[1]);
      found.help =
          replace(metric.help, "Inception features", length.str(1) + " Inception features");
      return found;
    }
    names.push_back(metric.name);
  }
  throw UnknownName("metric", name, names);
}

double badness(const Metric& metric, double value) {
  switch (metric.better) {
    case Better::higher:
      return -value;
    case Better::lower:
      return value;
    case Better::target:
      return std::abs(value - metric.target);
  }
  fail("badness: ", metric.name, " does not say which values are better");
}

}  // namespace eps
