// Group norm by moments per channel, combined per group into an affine map per channel.
#include "eps/nets/fused.h"

#include <ATen/Parallel.h>

#include <cmath>

#include "eps/nets/pixel_loops.h"
#include "eps/nets/pixel_runs.h"

namespace eps::nets {
namespace {

using pixel_loops::Pixels;

Tensor as_float(const Tensor& tensor) {
  return tensor.defined() ? tensor.to(at::kFloat).contiguous() : tensor;
}

struct Moments {
  double mean, deviation;  // deviation is the sum of (x - mean)^2
};

// Returns the moments of channel c over all runs of one image; sums[run][2][channel] are the sums
// of x - shift and of its square.
Moments channel_moments(const Runs& runs, int64_t c, float shift, const float* sums) {
  double sum = 0, square = 0;
  for (int64_t r = 0; r < runs.per_image(); ++r) {
    sum += sums[2 * r * runs.channels + c];
    square += sums[(2 * r + 1) * runs.channels + c];
  }
  const auto n = static_cast<double>(runs.pixels);
  return {shift + sum / n, square - sum * sum / n};
}

// Computes slope line[0][c] and intercept line[1][c]: the norm of image n is x * line[0] + line[1].
void find_line(const FusedNorm& norm,
               const Runs& runs,
               int64_t n,
               const float* shifts,
               const float* sums,
               float* line) {
  const float* offset = row(norm.offset, n);
  const float* modulation = row(norm.modulation, n);
  const float* weight = norm.weight.data_ptr<float>();
  const float* bias = norm.bias.data_ptr<float>();
  const auto pixels = static_cast<double>(runs.pixels);
  const int64_t size = runs.channels / norm.groups;
  std::vector<double> means(static_cast<size_t>(size));
  for (int64_t first = 0; first < runs.channels; first += size) {
    double mean = 0, deviation = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t c = first + i;
      const Moments own = channel_moments(runs, c, shifts[c], sums);
      means[static_cast<size_t>(i)] = own.mean + (offset ? offset[c] : 0);
      mean += means[static_cast<size_t>(i)] / static_cast<double>(size);
      deviation += own.deviation;
    }
    for (const double m : means) deviation += pixels * (m - mean) * (m - mean);
    const double variance = deviation / (pixels * static_cast<double>(size));
    for (int64_t c = first; c < first + size; ++c) {
      const double scale = modulation ? 1.0 + modulation[c] : 1.0;
      const double shift = modulation ? modulation[runs.channels + c] : 0.0;
      const double slope = weight[c] / std::sqrt(variance + norm.eps);
      const double intercept = bias[c] + ((offset ? offset[c] : 0) - mean) * slope;
      line[c] = static_cast<float>(slope * scale);
      line[runs.channels + c] = static_cast<float>(intercept * scale + shift);
    }
  }
}

template <class Scalar>
void normalise(const FusedNorm& norm, const Runs& runs, const Scalar* x, Scalar* y) {
  const auto loops = pixel_loops::best<Scalar>();
  const int64_t c = runs.channels;
  std::vector<float> shifts = zeros(runs.images * c);  // the first pixel, an estimate of the mean
  for (int64_t n = 0; n < runs.images; ++n) {
    std::copy_n(x + n * runs.pixels * c, c, shifts.data() + n * c);
  }
  std::vector<float> sums = zeros(runs.total() * 2 * c);
  at::parallel_for(0, runs.total(), runs.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Pixels<Scalar> in{x + runs.begin(r), runs.count(r), c};
      loops.add_moments(in, shifts.data() + runs.image(r) * c, sums.data() + r * 2 * c);
    }
  });
  std::vector<float> lines = zeros(runs.images * 2 * c);
  for (int64_t n = 0; n < runs.images; ++n) {
    const float* own = sums.data() + n * runs.per_image() * 2 * c;
    find_line(norm, runs, n, shifts.data() + n * c, own, lines.data() + n * 2 * c);
  }
  const auto map = norm.silu ? loops.map_and_activate : loops.map;
  at::parallel_for(0, runs.total(), runs.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Pixels<Scalar> in{x + runs.begin(r), runs.count(r), c};
      map(in, lines.data() + runs.image(r) * 2 * c, y + runs.begin(r));
    }
  });
}

template <class Scalar>
void residual(int64_t numel, const Scalar* x, double scale, Scalar* h) {
  const auto loops = pixel_loops::best<Scalar>();
  at::parallel_for(0, numel, Runs::kGrain, [&](int64_t begin, int64_t end) {
    loops.add_scaled({x + begin, end - begin, 1}, static_cast<float>(scale), h + begin);
  });
}

}  // namespace

bool can_fuse(const Tensor& x) {
  return x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

Tensor fused_norm(const FusedNorm& given, const Tensor& x) {
  const FusedNorm norm{.groups = given.groups,
                       .eps = given.eps,
                       .weight = as_float(given.weight),
                       .bias = as_float(given.bias),
                       .offset = as_float(given.offset),
                       .modulation = as_float(given.modulation),
                       .silu = given.silu};
  const Runs runs = runs_of(x);
  const Tensor y = at::empty_like(x, x.options(), at::MemoryFormat::ChannelsLast);
  if (x.scalar_type() == at::kBFloat16)
    normalise(norm, runs, x.data_ptr<at::BFloat16>(), y.data_ptr<at::BFloat16>());
  else
    normalise(norm, runs, x.data_ptr<float>(), y.data_ptr<float>());
  return y;
}

void fused_residual(const Tensor& h, const Tensor& x, double scale) {
  if (h.scalar_type() == at::kBFloat16) {
    residual(h.numel(), x.data_ptr<at::BFloat16>(), scale, h.data_ptr<at::BFloat16>());
  } else {
    residual(h.numel(), x.data_ptr<float>(), scale, h.data_ptr<float>());
  }
}

}  // namespace eps::nets
