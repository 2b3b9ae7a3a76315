// The report on a restoration.
#include "eps/restore/restoration_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/base/version.h"
#include "eps/metrics/interval.h"
#include "eps/metrics/psnr.h"

namespace eps {

namespace {

Json residual_json(const ResidualTests& tests) {
  Json all = Json::object();
  for (const ResidualStatistic& one : tests.statistics)
    all[one.name] = {{"z", one.z}, {"size", one.size}, {"p", tests.p_value(one)}};
  return all;
}

}  // namespace

std::string RestorationReport::verdict() const {
  if (!misfit.empty()) return misfit;
  if (quick) return "the mean fits the measurement";
  if (noise_estimated)
    return "the noise was fitted by chi2 itself, which so says nothing of the operator";
  if (!findings.empty()) return "the residual has the size of the noise, but not its structure";
  if (chi2_rehearsed)
    return fmt::format(
        "the samples fit as those of a measurement simulated from one of them do, whose chi2 is "
        "{:.2f}: the network is inexact for this operator",
        *chi2_rehearsed);
  return "the samples fit the measurement";
}

void add_results(RestorationReport& report, const Restoration& r, const Tensor& truth) {
  report.samples = r.samples.size(0);
  report.measurements = r.measurements;
  report.chi2 = r.chi2;
  report.misfit = misfit_words(r.chi2, r.measurements, report.noise_estimated);
  // A mean fits better than samples.
  if (report.quick && !report.misfit.empty())
    report.misfit = r.chi2 < 1 ? ""
                               : "the mean does not fit the measurement: its noise is larger, or "
                                 "the operator is not the one that made it";
  if (report.approximate && !report.misfit.empty())
    report.misfit =
        "far from 1, by the error of the method, or as noise or operator are not those "
        "of the measurement";
  report.interval = interval_kind(report.samples);
  report.evaluations_per_sample =
      static_cast<double>(r.cost.evaluations) / static_cast<double>(report.samples);
  report.pivot_iterations = r.cost.pivot_iterations;
  report.pivot_error = r.cost.pivot_error;
  report.seconds = r.seconds;
  if (r.deviation.defined()) report.deviation_of_white = r.deviation.mean(0).max().item<double>();
  if (!truth.defined()) return;
  report.psnr_of_samples = psnr(r.samples, truth).mean().item<double>();
  report.psnr_of_mean = psnr(r.mean, truth[0]).mean().item<double>();
}

std::string to_json(const RestorationReport& report) {
  Json json = {{"version", version()},
               {"input", report.input},
               {"simulated", report.simulated},
               {"operator", report.operator_spec},
               {"noise",
                {{"sigma", report.sigma_y},
                 {"grey_levels", report.sigma_y / kGreyLevel},
                 {"estimated", report.noise_estimated}}},
               {"model", report.network},
               {"method", report.method},
               {"samples", report.samples},
               {"steps", report.steps},
               {"quick", report.quick},
               {"seed", report.seed},
               {"measurements", report.measurements},
               {"measured_share", report.measured_share},
               {"chi2", report.chi2},
               {"fits", report.fits()},
               {"words", report.verdict()},
               {"findings", report.findings},
               {"warnings", report.warnings},
               {"residual", residual_json(report.residual)},
               {"interval", report.interval},
               {"evaluations_per_sample", report.evaluations_per_sample},
               {"seconds", report.seconds}};
  if (report.pivot_iterations > 0)
    json["pivots"] = {{"iterations", report.pivot_iterations}, {"error", report.pivot_error}};
  for (const Window& window : report.windows)
    json["windows"].push_back({{"top", window.top},
                               {"left", window.left},
                               {"height", window.height},
                               {"width", window.width}});
  if (report.chi2_rehearsed) json["chi2_rehearsed"] = *report.chi2_rehearsed;
  if (report.finest_detail) json["noise"]["finest_detail"] = *report.finest_detail;
  if (!report.noise_words.empty()) json["noise"]["model"] = report.noise_words;
  if (!report.kernel.empty()) json["kernel"] = {{"words", report.kernel}};
  if (const auto& trial = report.kernel_trial)
    json["kernel"]["trial"] = {
        {"sigma", trial->sigma_y}, {"chi2", trial->given}, {"chi2_flipped", trial->flipped}};
  if (report.deviation_of_white) json["deviation_of_white"] = *report.deviation_of_white;
  if (report.psnr_of_samples) json["psnr_of_samples"] = *report.psnr_of_samples;
  if (report.psnr_of_mean) json["psnr_of_mean"] = *report.psnr_of_mean;
  return json_text(json, 2) + "\n";
}

}  // namespace eps
