// Tests of the residual of posterior samples for structure.
#include "eps/restore/residual_tests.h"

#include <algorithm>
#include <cmath>

#include "eps/operators/factories.h"
#include "eps/restore/blur_kernel.h"

namespace eps {
namespace {

// Returns the two parts of images in which a pixel of the first lies `rows` >= 0 below and
// `columns` to the right of that of the second.
std::pair<Tensor, Tensor> apart(const Tensor& image, int64_t rows, int64_t columns) {
  const auto part = [&](int64_t dimension, int64_t from, int64_t count, const Tensor& of) {
    return of.narrow(dimension, from, count);
  };
  const int64_t height = image.size(2) - rows, width = image.size(3) - std::abs(columns);
  return {part(3, std::max<int64_t>(columns, 0), width, part(2, rows, height, image)),
          part(3, std::max<int64_t>(-columns, 0), width, part(2, 0, height, image))};
}

Tensor sum_of(const Tensor& values) { return values.flatten(1).sum(1); }

// Returns the difference of the neighbours on both sides, circularly.
Tensor derivative(const Tensor& x, int64_t dimension) {
  return at::roll(x, -1, dimension) - at::roll(x, 1, dimension);
}

Tensor laplacian(const Tensor& x) {
  return at::roll(x, 1, 2) + at::roll(x, -1, 2) + at::roll(x, 1, 3) + at::roll(x, -1, 3) - 4 * x;
}

// A `Residual` holds r of each sample, (S, C, H, W), 0 where the weight is 0 and of mean square 1
// elsewhere.
class Residual {
 public:
  Residual(const Problem& problem, const Tensor& samples, const ResidualSetting& setting)
      : A_(*problem.A),
        W_(setting.whitening.W),
        x_(samples.to(problem.y.device(), at::kDouble)),
        prediction_(A_.apply(x_)) {
    const Tensor y = problem.y.to(at::kDouble);
    weight_ = measured(at::ones_like(prediction_)) * unclipped(y, problem.sigma_y, setting);
    count_ = sum_of(weight_);
    r_ = white(y - prediction_) * weight_;
    const Tensor scale = (sum_of(r_.square()) / count_.clamp_min(1)).sqrt().clamp_min(1e-12);
    r_ = r_ / scale.view({-1, 1, 1, 1});
  }

  bool enough() const { return count_.min().item<double>() >= kFewestResiduals; }
  const Tensor& x() const { return x_; }
  const Tensor& prediction() const { return prediction_; }
  Tensor of(const Tensor& image) const { return A_.apply(image); }
  Tensor kernel() const { return kernel_of(A_); }
  // Returns the part of x that lies where the pixels of y do.
  Tensor seen() const {
    const auto cut = cut_of(A_, prediction_, x_.sizes().vec());
    return cut ? cut->of(x_) : x_;
  }

  // Correlation of r at a distance: a product of two independent N(0, 1) has the variance 1.
  void add_neighbours(int64_t rows, int64_t columns, ResidualTests& tests) const {
    if (rows >= r_.size(2) || std::abs(columns) >= r_.size(3)) return;
    const auto [a, b] = apart(r_, rows, columns);
    const auto [wa, wb] = apart(weight_, rows, columns);
    add("neighbours_" + std::to_string(rows) + "_" + std::to_string(columns),
        sum_of(a * b),
        sum_of(wa * wb),
        tests);
  }

  // The products of all pairs of channels: ((sum r)^2 - sum r^2)/2 in each pixel.
  void add_channels(ResidualTests& tests) const {
    const auto pairs = [](const Tensor& v) {
      return ((v.sum(1, true).square() - v.square().sum(1, true)) / 2);
    };
    if (r_.size(1) > 1) add("channels", sum_of(pairs(r_)), sum_of(pairs(weight_)), tests);
  }

  // The excess of mean r^2 in the band over the inside: r^2 has the variance 2.
  void add_border(ResidualTests& tests) const {
    const int64_t height = r_.size(2), width = r_.size(3);
    const int64_t rows = border_width(height), columns = border_width(width);
    if (height <= 2 * rows || width <= 2 * columns) return;
    Tensor inside = at::zeros({1, 1, height, width}, r_.options());
    inside.narrow(2, rows, height - 2 * rows).narrow(3, columns, width - 2 * columns).fill_(1);
    const Tensor within = sum_of(weight_ * inside), outside = count_ - within;
    if (at::minimum(within, outside).min().item<double>() < kFewestResiduals) return;
    const Tensor square = r_.square();
    const Tensor excess =
        sum_of(square * (1 - inside)) / outside - sum_of(square * inside) / within;
    tests.statistics.push_back({"border",
                                (excess / (2 / within + 2 / outside).sqrt()).mean().item<double>(),
                                excess.mean().item<double>()});
  }

  // Correlation of r with a function of x, a change of A x: N(0, 1), exactly.
  void add_direction(const std::string& name, const Tensor& change, ResidualTests& tests) const {
    const Tensor g = white(change) * weight_;
    const Tensor power = sum_of(g.square());
    if (power.min().item<double>() <= 1e-12 * count_.max().item<double>()) return;
    add(name, sum_of(r_ * g) * (count_ / power).sqrt(), count_, tests);
  }

  // Correlation of r^2 - 1 with a function of x, made to have the mean 0; r^2 has the variance 2.
  void add_variance(const std::string& name, const Tensor& of_x, ResidualTests& tests) const {
    const Tensor g = centred(of_x);
    const Tensor power = 2 * sum_of(g.square());
    if (power.min().item<double>() <= 1e-12 * count_.max().item<double>()) return;
    add(name, sum_of(r_.square() * g) * (count_ / power).sqrt(), count_, tests);
  }

  Tensor centred(const Tensor& values) const {
    const Tensor kept = values * weight_;
    return (kept - (sum_of(kept) / count_).view({-1, 1, 1, 1})) * weight_;
  }

 private:
  // Adds the statistic of sums whose variance is `count` under white noise.
  static void add(const std::string& name,
                  const Tensor& sum,
                  const Tensor& count,
                  ResidualTests& tests) {
    if (count.min().item<double>() < kFewestResiduals) return;
    tests.statistics.push_back(
        {name, (sum / count.sqrt()).mean().item<double>(), (sum / count).mean().item<double>()});
  }

  Tensor white(const Tensor& values) const { return W_ ? W_->apply(values) : values; }
  Tensor measured(const Tensor& y) const {
    const Tensor own = A_.format().measured(y);
    return W_ ? W_->format().measured(own) : own;
  }
  // Returns 1 where 8 bits would not have clipped, and 0 elsewhere; 1 everywhere if y exceeds the
  // range of 8 bits.
  Tensor unclipped(const Tensor& y, const Tensor& sigma_y, const ResidualSetting& setting) const {
    const Tensor stored = setting.offset.defined() ? y + setting.offset : y;
    // A few ulp: the offset of what was stored may not be exact.
    if (stored.abs().max().item<double>() > 1 + 1e-9) return at::ones_like(prediction_);
    const Tensor value = setting.offset.defined() ? prediction_ + setting.offset : prediction_;
    const Tensor& deviation = W_ ? setting.whitening.deviation : sigma_y;
    return (value.abs() < 1 - 3 * deviation.to(value.device())).to(at::kDouble);
  }

  const LinearOperator& A_;
  const Operator W_;
  Tensor x_, prediction_, weight_, count_, r_;
};

// Returns the size below which a statistic is a network's inexactness. Largest sizes of faces64-eps
// in 150 restorations at the right operator, of 22 faces, two samples of 10 steps each, noise
// of 1.5 to 12.8 grey levels, among those beyond chance: 0.058 of brightness, 0.073 of sharpness,
// none of the others that count. In 63 restorations of other faces, afterwards, nothing was found.
double tolerance(const std::string& name) {
  return name == "sharpness" ? 0.12 : name == "brightness" ? 0.07 : 0.04;
}

// Returns whether both signs of a statistic speak against the operator. What a wrong operator
// leaves is smooth, alike in all channels and strongest at edges: positive correlations. Networks
// leave negative ones.
bool is_signed(const std::string& name) {
  return name != "channels" && name != "edges" && !name.starts_with("neighbours");
}

const ResidualStatistic* named(const std::vector<ResidualStatistic>& all, const std::string& name) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

double ResidualTests::p_value(const ResidualStatistic& statistic) const {
  return std::min(
      1.0,
      static_cast<double>(statistics.size()) * std::erfc(std::abs(statistic.z) / std::sqrt(2)));
}

bool ResidualTests::found(const ResidualStatistic& statistic) const {
  constexpr double kChance = 1e-4;  // a false alarm in ten thousand restorations, by exact samples
  const double sign = is_signed(statistic.name) && statistic.size < 0 ? -1 : 1;
  const ResidualStatistic* own = named(rehearsed, statistic.name);
  const double inexact = own ? std::max(sign * own->size, 0.0) : 0;
  return p_value(statistic) < kChance &&
         sign * statistic.size > tolerance(statistic.name) + 2 * inexact;
}

const ResidualStatistic* ResidualTests::find(const std::string& name) const {
  return named(statistics, name);
}

bool ResidualTests::found(const std::string& name) const {
  const ResidualStatistic* one = find(name);
  return one && found(*one);
}

bool ResidualTests::any_found() const {
  return std::any_of(
      statistics.begin(), statistics.end(), [&](const auto& one) { return found(one); });
}

double ResidualTests::largest() const {
  double most = 0;
  for (const auto& one : statistics) most = std::max(most, std::abs(one.z));
  return most;
}

int64_t border_width(int64_t size) { return std::max<int64_t>(1, size / 16); }

ResidualTests test_residuals(const Problem& problem,
                             const Tensor& samples,
                             const ResidualSetting& setting) {
  ResidualTests tests;
  if (problem.y.dim() != 4) return tests;
  const Residual r(problem, samples, setting);
  if (!r.enough()) return tests;
  using Distance = std::pair<int64_t, int64_t>;
  for (const auto& [rows, columns] : {Distance{0, 1},
                                      Distance{1, 0},
                                      Distance{1, 1},
                                      Distance{1, -1},
                                      Distance{0, 2},
                                      Distance{2, 0}})
    r.add_neighbours(rows, columns, tests);
  r.add_channels(tests);
  r.add_border(tests);
  const Tensor &x = r.x(), &prediction = r.prediction();
  const Tensor along_x = r.of(derivative(x, 3)), along_y = r.of(derivative(x, 2));
  r.add_variance("edges", (along_x.square() + along_y.square()).sqrt(), tests);
  r.add_direction("brightness", r.centred(prediction), tests);
  r.add_direction("shift_x", along_x, tests);
  r.add_direction("shift_y", along_y, tests);
  r.add_direction("sharpness", r.of(laplacian(x)), tests);
  const Tensor kernel = r.kernel(), seen = r.seen();
  if (!kernel.defined() || seen.sizes() != prediction.sizes()) return tests;
  r.add_direction("width", seen - prediction, tests);
  if (!setting.border || *setting.border == Border::valid) return tests;
  const auto with_border = [&](Border border) {
    return blur(kernel.unsqueeze(0), x.size(2), x.size(3), border)->apply(x);
  };
  if (*setting.border == Border::replicate)
    r.add_direction("wrapped", with_border(Border::circular) - prediction, tests);
  else
    r.add_direction("replicated", with_border(Border::replicate) - prediction, tests);
  return tests;
}

}  // namespace eps
