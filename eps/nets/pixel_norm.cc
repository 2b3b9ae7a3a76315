// The norm over the channels of each pixel, and its gradients, with the loops of pixel_loops.h.
#include "eps/nets/pixel_norm.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "eps/nets/pixel_loops.h"
#include "eps/nets/pixel_runs.h"

namespace eps::nets {
namespace {

using pixel_loops::NormGradients;
using pixel_loops::Pixels;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct PixelNorm {
  Tensor x, slope, intercept;
  double eps;
  bool silu;

  // Returns slope and intercept of each image, (N, 2, C).
  std::vector<float> lines() const {
    const int64_t c = x.size(1);
    std::vector<float> all = zeros(x.size(0) * 2 * c);
    for (int64_t n = 0; n < x.size(0); ++n) {
      std::copy_n(row(slope, n), c, all.data() + 2 * n * c);
      std::copy_n(row(intercept, n), c, all.data() + (2 * n + 1) * c);
    }
    return all;
  }
};

template <class Scalar>
void norm_forward(const PixelNorm& norm, Scalar* y) {
  const auto loops = pixel_loops::best<Scalar>();
  const auto map = norm.silu ? loops.norm_and_activate : loops.norm;
  const Runs runs = runs_of(norm.x);
  const int64_t c = runs.channels;
  const std::vector<float> lines = norm.lines();
  const Scalar* x = norm.x.data_ptr<Scalar>();
  at::parallel_for(0, runs.total(), runs.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Pixels<Scalar> in{x + runs.begin(r), runs.count(r), c};
      const float* line = lines.data() + runs.image(r) * 2 * c;
      map(in, line, static_cast<float>(norm.eps), y + runs.begin(r));
    }
  });
}

// Computes dx, and the gradients of slope and intercept of each image, (N, 2, C).
template <class Scalar>
void norm_backward(const PixelNorm& norm, const Scalar* dy, Scalar* dx, const Tensor& dlines) {
  const auto loops = pixel_loops::best<Scalar>();
  const auto add = norm.silu ? loops.activated_norm_gradients : loops.norm_gradients;
  const Runs runs = runs_of(norm.x);
  const int64_t c = runs.channels;
  const std::vector<float> lines = norm.lines();
  const Scalar* x = norm.x.data_ptr<Scalar>();
  std::vector<float> sums = zeros(runs.total() * 2 * c);
  at::parallel_for(0, runs.total(), runs.grain(), [&](int64_t begin, int64_t end) {
    std::vector<float> scratch = zeros(2 * c);
    for (int64_t r = begin; r < end; ++r) {
      const int64_t first = runs.begin(r);
      add({x + first, runs.count(r), c},
          {dy + first,
           lines.data() + runs.image(r) * 2 * c,
           static_cast<float>(norm.eps),
           dx + first,
           sums.data() + r * 2 * c,
           scratch.data()});
    }
  });
  float* out = dlines.data_ptr<float>();
  for (int64_t n = 0; n < runs.images; ++n)
    for (int64_t i = 0; i < 2 * c; ++i) {
      double sum = 0;
      for (int64_t r = n * runs.per_image(); r < (n + 1) * runs.per_image(); ++r)
        sum += sums[static_cast<size_t>(r * 2 * c + i)];
      out[n * 2 * c + i] = static_cast<float>(sum);
    }
}

// Calls run with a pointer of the type of x's numbers.
template <class Run>
void for_type(const Tensor& x, Run&& run) {
  if (x.scalar_type() == at::kBFloat16)
    run(static_cast<at::BFloat16*>(nullptr));
  else
    run(static_cast<float*>(nullptr));
}

// Returns a part of the gradients of all lines, in the shape of its table (N or 1, C).
Tensor table_gradient(const Tensor& dlines, int64_t part, const Tensor& table) {
  const Tensor own = dlines.select(1, part);
  return table.size(0) == 1 ? own.sum(0, /*keepdim=*/true) : own;
}

struct PixelNormFunction : torch::autograd::Function<PixelNormFunction> {
  static Tensor forward(AutogradContext* context,
                        const Tensor& x,
                        const Tensor& slope,
                        const Tensor& intercept,
                        double eps,
                        bool silu) {
    context->save_for_backward({x, slope, intercept});
    context->saved_data["eps"] = eps;
    context->saved_data["silu"] = silu;
    const Tensor y = at::empty_like(x);
    for_type(x, [&](auto* type) {
      using Scalar = std::remove_pointer_t<decltype(type)>;
      norm_forward<Scalar>({x, slope, intercept, eps, silu}, y.data_ptr<Scalar>());
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const PixelNorm norm{saved[0],
                         saved[1],
                         saved[2],
                         context->saved_data["eps"].toDouble(),
                         context->saved_data["silu"].toBool()};
    const Tensor& x = norm.x;
    const Tensor dy = gradients[0].to(x.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor dx = at::empty_like(x);
    const Tensor dlines = at::empty({x.size(0), 2, x.size(1)}, x.options().dtype(at::kFloat));
    for_type(x, [&](auto* type) {
      using Scalar = std::remove_pointer_t<decltype(type)>;
      norm_backward<Scalar>(norm, dy.data_ptr<Scalar>(), dx.data_ptr<Scalar>(), dlines);
    });
    return {dx,
            table_gradient(dlines, 0, norm.slope),
            table_gradient(dlines, 1, norm.intercept),
            {},
            {}};
  }
};

}  // namespace

Tensor pixel_norm(
    const Tensor& x, const Tensor& slope, const Tensor& intercept, double eps, bool silu) {
  return PixelNormFunction::apply(x, slope.contiguous(), intercept.contiguous(), eps, silu);
}

}  // namespace eps::nets
