// One measurement restored.
#include "eps/restore/restoration.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "eps/metrics/consistency.h"
#include "eps/metrics/interval.h"

namespace eps {
namespace {

// Returns the problem for a denoiser of `channels` channels. The noise of the measurement is that
// of the mean of all channels; the added noise has no part in that mean, and makes the noise of
// each channel independent.
Problem in_colour(const Problem& grey, int64_t channels, uint64_t seed) {
  Problem problem = grey;
  problem.y = grey.y.repeat_interleave(channels, 1);
  problem.sigma_y = grey.sigma_y * noise_factor(grey, channels);
  const Tensor noise = Rng(derive_seed(seed, Stream::colour_noise))
                           .normal(problem.y.sizes().vec(), problem.y.options());
  const Tensor colour = problem.sigma_y.item<double>() * (noise - noise.mean(1, true));
  problem.y = problem.y + problem.A->format().measured(colour);
  return problem;
}

// Returns the mean chi2 of samples, one after the other: large pictures are many.
double mean_chi_square(const Problem& problem, const Tensor& samples) {
  double sum = 0;
  for (const Tensor& sample : samples.split(1)) sum += chi_square(problem, sample).item<double>();
  return sum / static_cast<double>(samples.size(0));
}

// Returns the mean of finished samples and of estimates for `coming` others.
Tensor running_mean(const Tensor& finished, const Tensor& estimates, int64_t coming, bool grey) {
  Tensor sum = estimates.clamp(-1, 1).mean(0).to(at::kDouble) * coming;
  if (grey) sum = sum.mean(0, true);
  if (finished.size(0) > 0) sum = sum + finished.sum(0);
  return (sum / (finished.size(0) + coming)).to(at::kCPU);
}

// Returns all samples, (S, C, H, W), drawn batch by batch, and grey if wanted; clipped.
Tensor draw(const MethodChoice& choice,
            const Denoiser& denoiser,
            const Problem& problem,
            const RestorationOptions& o,
            bool grey,
            Cost& cost) {
  Shape shape = problem.image();
  const Tensor all = at::empty({o.samples, grey ? 1 : shape[1], shape[2], shape[3]},
                               problem.y.options().dtype(at::kDouble));
  for (int64_t begin = 0; begin < o.samples; begin += o.batch) {
    std::vector<uint64_t> streams;
    for (int64_t k = begin; k < std::min(begin + o.batch, o.samples); ++k)
      streams.push_back(static_cast<uint64_t>(k));
    shape[0] = static_cast<int64_t>(streams.size());
    Rng rng(derive_seed(o.seed, Stream::posterior_sample), streams);
    SampleOptions listening{.on_evaluation = o.on_evaluation};
    if (o.on_mean)
      listening.on_estimate = [&](const Tensor& estimates) {
        o.on_mean([&] { return running_mean(all.slice(0, 0, begin), estimates, shape[0], grey); });
      };
    const Samples drawn = sample_posterior(choice, denoiser, problem, shape, rng, listening);
    const Tensor part = all.slice(0, begin, begin + shape[0]);
    part.copy_(grey ? drawn.images.mean(1, true) : drawn.images).clamp_(-1, 1);
    cost += drawn.cost;
  }
  return all;
}

}  // namespace

Restoration summarise(const Tensor& samples) {
  Restoration result;
  result.samples = samples.to(at::kCPU, at::kDouble);
  result.mean = result.samples.mean(0);
  const int64_t S = samples.size(0);
  if (interval_kind(S) == "none") return result;
  result.deviation = result.samples.std(0);
  const Interval interval = interval_90(result.samples);
  result.low = interval.low.clamp(-1, 1);
  result.high = interval.high.clamp(-1, 1);
  return result;
}

Restoration restore(const MethodChoice& choice,
                    const Denoiser& denoiser,
                    const Problem& problem,
                    const RestorationOptions& options) {
  check(problem.y.size(0) == 1,
        "restore: one measurement is wanted, got a batch of ",
        problem.y.size(0));
  check(options.samples >= 1 && options.batch >= 1,
        "restore: at least one sample and a batch of at least one are wanted, got ",
        options.samples,
        " and ",
        options.batch);
  const auto start = std::chrono::steady_clock::now();
  const auto measurements = static_cast<int64_t>(problem.measurements().item<double>());
  check(measurements > 0, "restore: nothing is measured");
  Cost cost;
  const bool grey = noise_factor(problem, options.channels) != 1;
  const Tensor samples = draw(choice,
                              denoiser,
                              grey ? in_colour(problem, options.channels, options.seed) : problem,
                              options,
                              grey,
                              cost);
  Restoration result = summarise(samples);
  result.chi2 = mean_chi_square(problem, samples);
  result.measurements = measurements;
  result.cost = cost;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

double noise_factor(const Problem& problem, int64_t channels) {
  const bool grey = channels > 1 && problem.image()[1] == 1;
  return grey ? std::sqrt(static_cast<double>(channels)) : 1;
}

MethodChoice method_for(const std::string& spec,
                        const std::string& task,
                        double sigma_y,
                        int64_t steps) {
  const MethodChoice choice = choose_method(spec, task, steps);
  const bool trained = choice.method.input.conditional() && choice.options.has("sigma_min");
  if (!trained || Spec::parse(spec).has("sigma_min")) return choice;
  // The last level is no lower than that of EDM's own grid, and no higher than the method's.
  return choice.with("sigma_min", std::clamp(sigma_y / 5, 0.002, 0.01));
}

std::string misfit_words(double chi2, int64_t measurements, bool estimated) {
  const double deviation = std::sqrt(2 / static_cast<double>(measurements));
  if (std::abs(chi2 - 1) <= 5 * deviation || (chi2 >= 0.8 && chi2 <= 1.25)) return "";
  const std::string than = estimated ? "estimated" : "stated";
  return chi2 > 1 ? "the samples do not fit the measurement: its noise is larger than " + than +
                        ", or the operator is not the one that made it"
                  : "the samples fit the measurement better than such noise allows: the noise is "
                    "smaller than " +
                        than + ", some of it was removed, or the steps are too few";
}

}  // namespace eps
