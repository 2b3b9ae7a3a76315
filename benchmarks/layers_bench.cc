// Times of the layers of a training step on a GPU: fused kernels beside ATen's, and convolutions.
//
//   layers_bench [batch]
//
// The layers are bfloat16, of batch 256 by default, at the sizes of a DDPM++ with 64 base channels
// at 64 x 64. GB/s counts the bytes that the fused kernels must move, also for ATen's kernels, so
// that GB/s compare as times do. Times are medians of rounds of ten, each synchronised.
#include <ATen/Context.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "eps/nets/cuda/fused_cuda.h"

namespace eps {
namespace {

constexpr auto kFirst = at::MemoryFormat::Contiguous;
constexpr auto kLast = at::MemoryFormat::ChannelsLast;

using Work = std::function<Tensor()>;

double seconds(const Work& work) {
  std::vector<double> times;
  const auto wait = [](const Tensor& answer) { answer.flatten()[0].item<float>(); };
  for (int round = 0; round < 7; ++round) {
    wait(work());
    const auto start = std::chrono::steady_clock::now();
    Tensor answer;
    for (int i = 0; i < 10; ++i) answer = work();
    wait(answer);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count() / 10);
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

Tensor image(const Shape& shape, at::MemoryFormat layout) {
  return at::randn(shape, at::TensorOptions(at::kCUDA).dtype(at::kBFloat16)).contiguous(layout);
}

Tensor leaf(const Tensor& tensor) { return tensor.detach().requires_grad_(true); }

// A `Timing` holds the seconds of the forward and backward pass of a function.
struct Timing {
  double forward, backward;
};

Timing time_both(const std::function<Tensor()>& function, const std::vector<Tensor>& leaves) {
  Timing timing{};
  {
    const c10::NoGradGuard no_grad;
    timing.forward = seconds(function);
  }
  const Tensor y = function();
  const Tensor dy = at::randn_like(y);
  timing.backward = seconds(
      [&] { return torch::autograd::grad({y}, leaves, {dy}, /*retain_graph=*/true).front(); });
  return timing;
}

// Prints the times and GB/s of a layer. `images` is the least traffic of the forward and backward
// pass, in tensors of the shape.
void print_traffic(const char* name,
                   const Shape& shape,
                   const Timing& timing,
                   std::pair<double, double> images) {
  const double gigabytes = 2e-9 * static_cast<double>(c10::multiply_integers(shape));
  std::printf("| %-34s | %3ld x %2ld^2 | %8.3f | %6.0f | %8.3f | %6.0f |\n",
              name,
              static_cast<long>(shape[1]),
              static_cast<long>(shape[2]),
              timing.forward * 1e3,
              images.first * gigabytes / timing.forward,
              timing.backward * 1e3,
              images.second * gigabytes / timing.backward);
  std::fflush(stdout);
}

void bench_norm(const Shape& shape) {
  const int64_t c = shape[1], groups = std::min<int64_t>(32, c / 4);
  const auto floats = at::TensorOptions(at::kCUDA).dtype(at::kFloat);
  const Tensor weight = leaf(at::ones({c}, floats)), bias = leaf(at::zeros({c}, floats));
  const Tensor offset = leaf(at::randn({shape[0], c}, floats));
  const Tensor x = leaf(image(shape, kLast));
  const nets::FusedNorm norm{groups, 1e-6, weight, bias, offset, {}, true};
  const std::vector<Tensor> leaves = {x, weight, bias, offset};
  const std::pair<double, double> images{3, 5};
  if (nets::has_cuda_kernels()) {
    print_traffic("fused offset, norm, silu",
                  shape,
                  time_both([&] { return nets::cuda_norm(norm, x); }, leaves),
                  images);
    const at::Generator generator =
        at::globalContext().defaultGenerator(at::Device(at::kCUDA, 0)).clone();
    print_traffic("fused offset, norm, silu, dropout",
                  shape,
                  time_both(
                      [&] {
                        return nets::cuda_norm(norm, x, {0.9, generator});
                      },
                      leaves),
                  images);
  }
  const Tensor first = leaf(image(shape, kFirst));
  const auto plain = [&] {
    const Tensor h = first + offset.to(at::kBFloat16).unsqueeze(2).unsqueeze(3);
    return at::silu(
        at::group_norm(h, groups, weight.to(at::kBFloat16), bias.to(at::kBFloat16), 1e-6));
  };
  print_traffic(
      "ATen, channels first", shape, time_both(plain, {first, weight, bias, offset}), images);
}

void bench_residual(const Shape& shape) {
  const Tensor h = leaf(image(shape, kLast)), x = leaf(image(shape, kLast));
  const Tensor bias = leaf(at::zeros({shape[1]}, h.options().dtype(at::kFloat)));
  const double scale = std::sqrt(0.5);
  if (nets::has_cuda_kernels()) {
    print_traffic("fused residual with bias",
                  shape,
                  time_both([&] { return nets::cuda_residual(h, x, bias, scale); }, {h, x, bias}),
                  {3, 2});
  }
  const auto plain = [&] {
    return (h + bias.to(at::kBFloat16).unsqueeze(1).unsqueeze(2) + x) * scale;
  };
  print_traffic("ATen residual with bias", shape, time_both(plain, {h, x, bias}), {3, 2});
}

void bench_moves(const Shape& shape) {
  for (const auto& [layout, first] : {std::pair{kLast, false}, {kFirst, true}}) {
    const Tensor x = leaf(image(shape, layout)), skip = leaf(image(shape, layout));
    const auto name = [&](const char* what) {
      return std::string(what) + (first ? ", channels first" : ", channels last");
    };
    print_traffic(name("concatenation").c_str(),
                  shape,
                  time_both(
                      [&] {
                        return at::cat({x, skip}, 1);
                      },
                      {x, skip}),
                  {4, 0});
    print_traffic(name("upsampling").c_str(),
                  shape,
                  time_both(
                      [&] {
                        return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
                      },
                      {x}),
                  {5, 5});
    print_traffic(name("average pooling").c_str(),
                  shape,
                  time_both(
                      [&] {
                        return at::avg_pool2d(x, {2, 2});
                      },
                      {x}),
                  {1.25, 1.25});
  }
}

// A `Convolution` maps in to out channels with k x k taps on images of side^2 pixels.
struct Convolution {
  int64_t in, out, k, side;
};

void bench_convolution(const Convolution& conv, int64_t n) {
  const double work =
      2e-12 * static_cast<double>(n * conv.side * conv.side * conv.in * conv.out * conv.k * conv.k);
  const auto print = [&](const char* name, const Timing& timing) {
    std::printf("| %-14s | %3ld -> %3ld, %ld x %ld at %2ld^2 | %8.3f | %6.0f | %8.3f | %6.0f |\n",
                name,
                static_cast<long>(conv.in),
                static_cast<long>(conv.out),
                static_cast<long>(conv.k),
                static_cast<long>(conv.k),
                static_cast<long>(conv.side),
                timing.forward * 1e3,
                work / timing.forward,
                timing.backward * 1e3,
                2 * work / timing.backward);
    std::fflush(stdout);
  };
  for (const auto& [layout, name] :
       {std::pair{kLast, "channels last"}, {kFirst, "channels first"}}) {
    const Tensor x = leaf(image({n, conv.in, conv.side, conv.side}, layout));
    const Tensor weight = leaf(image({conv.out, conv.in, conv.k, conv.k}, layout));
    print(name, time_both([&] { return at::conv2d(x, weight, {}, 1, conv.k / 2); }, {x, weight}));
  }
  if (conv.k > 1) return;
  const Tensor rows = leaf(image({1, 1, n * conv.side * conv.side, conv.in}, kFirst)[0][0]);
  const Tensor weight = leaf(image({1, 1, conv.out, conv.in}, kFirst)[0][0]);
  print("matrix product", time_both([&] { return at::linear(rows, weight); }, {rows, weight}));
}

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  using namespace eps;
  if (!at::hasCUDA()) {
    std::printf("layers_bench: no CUDA device\n");
    return 0;
  }
  const int64_t n = argc > 1 ? std::atol(argv[1]) : 256;
  at::globalContext().setBenchmarkCuDNN(true);
  std::printf("| what | image | forward ms | GB/s | backward ms | GB/s |\n");
  std::printf("| --- | --- | --- | --- | --- | --- |\n");
  for (const auto& [c, side] : std::vector<std::pair<int64_t, int64_t>>{
           {64, 64}, {128, 64}, {192, 64}, {128, 32}, {256, 32}, {128, 16}, {128, 8}}) {
    bench_norm({n, c, side, side});
  }
  for (const auto& [c, side] :
       std::vector<std::pair<int64_t, int64_t>>{{64, 64}, {128, 32}, {128, 8}}) {
    bench_residual({n, c, side, side});
    bench_moves({n, c, side, side});
  }
  std::printf("\n| what | convolution | forward ms | TFLOP/s | backward ms | TFLOP/s |\n");
  std::printf("| --- | --- | --- | --- | --- | --- |\n");
  for (const Convolution& conv : std::vector<Convolution>{{3, 64, 3, 64},
                                                          {64, 64, 3, 64},
                                                          {128, 64, 3, 64},
                                                          {192, 64, 3, 64},
                                                          {128, 128, 3, 64},
                                                          {128, 128, 3, 32},
                                                          {256, 128, 3, 32},
                                                          {256, 256, 3, 32},
                                                          {128, 128, 3, 16},
                                                          {256, 256, 3, 16},
                                                          {128, 128, 3, 8},
                                                          {192, 64, 1, 64},
                                                          {256, 128, 1, 32}}) {
    bench_convolution(conv, n);
  }
}
