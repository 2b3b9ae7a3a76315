// Losses by noise level.
#include "eps/training/loss_by_noise.h"

#include <cmath>

namespace eps::training {

const std::vector<double>& band_limits() {
  static const std::vector<double> limits = {0.02, 0.1, 0.3, 1, 3, 10, 80};
  return limits;
}

int64_t bands() { return static_cast<int64_t>(band_limits().size()) - 1; }

Range band(int64_t index) {
  const auto i = static_cast<size_t>(index);
  return {band_limits().at(i), band_limits().at(i + 1)};
}

std::string band_name(int64_t index) {
  std::ostringstream text;
  text << band(index).low << "-" << band(index).high;
  return text.str();
}

BandSums::BandSums(at::Device device)
    : limits_(at::tensor(std::vector<double>(band_limits().begin() + 1, band_limits().end() - 1),
                         at::kDouble)
                  .to(device)),
      sums_(at::zeros({bands()}, limits_.options())),
      counts_(at::zeros({bands()}, limits_.options())) {}

void BandSums::add(const Tensor& sigma, const Tensor& loss) {
  const c10::NoGradGuard no_grad;
  const Tensor index = at::bucketize(sigma.flatten().to(at::kDouble), limits_);
  const Tensor wide = loss.detach().to(at::kDouble);
  sums_.index_add_(0, index, wide);
  counts_.index_add_(0, index, at::ones_like(wide));
}

BandSums::Means BandSums::take(const Ranks& ranks) {
  const Tensor table = at::stack({sums_, counts_});
  ranks.sum(table);
  const Tensor host = table.to(at::kCPU);
  sums_.zero_();
  counts_.zero_();
  Means means;
  double sum = 0, count = 0;
  for (int64_t i = 0; i < bands(); ++i) {
    const double own = host[0][i].item<double>(), images = host[1][i].item<double>();
    means.bands.push_back(images > 0 ? own / images : std::nan(""));
    means.images.push_back(static_cast<int64_t>(images));
    sum += own;
    count += images;
  }
  means.all = count > 0 ? sum / count : std::nan("");
  means.finite = std::isfinite(sum);
  return means;
}

}  // namespace eps::training
