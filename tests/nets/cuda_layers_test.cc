// The CUDA kernels against the same formulas in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eps/base/random.h"
#include "tests/nets/cuda_kernels.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

constexpr auto kLast = at::MemoryFormat::ChannelsLast;

using CudaLayers = CudaKernelsTest;

struct Precision {
  at::ScalarType type;
  double bound;
};
const std::vector<Precision> kPrecisions = {
    {at::kFloat, 1e-5}, {at::kHalf, 1e-2}, {at::kBFloat16, 1e-2}};

Tensor on_gpu(const Tensor& tensor, at::ScalarType type) {
  return tensor.to(at::TensorOptions(at::kCUDA).dtype(type));
}

// Channels with means of several deviations.
Tensor image(uint64_t seed, const Shape& shape, at::ScalarType type, double means = 0) {
  Rng rng(seed);
  const Tensor x = rng.normal(shape) + rng.normal({1, shape[1], 1, 1}) * means;
  return on_gpu(x, type).contiguous(kLast);
}

// Memory that the allocator hands out next holds no number that could pass for an answer.
void poison(const Tensor& like) {
  std::vector<Tensor> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(at::full_like(like, std::numeric_limits<double>::quiet_NaN()));
    blocks.push_back(at::full({like.size(0) * like.size(1) * 16 * (i + 1)},
                              std::numeric_limits<double>::quiet_NaN(),
                              like.options().dtype(at::kFloat)));
  }
}

Tensor plain_norm(const FusedNorm& norm, Tensor x) {
  const auto per_image = [](const Tensor& table) { return table.unsqueeze(2).unsqueeze(3); };
  if (norm.offset.defined()) x = x + per_image(norm.offset);
  if (norm.groups == 0) {
    const auto per_channel = [](const Tensor& table) { return table.unsqueeze(1).unsqueeze(2); };
    x = x / (x.square().mean(1, true) + norm.eps).sqrt() * per_channel(norm.weight) +
        per_channel(norm.bias);
  } else {
    x = at::group_norm(x, norm.groups, norm.weight, norm.bias, norm.eps);
  }
  if (norm.modulation.defined()) {
    const auto parts = per_image(norm.modulation).chunk(2, 1);
    x = x * (parts[0] + 1) + parts[1];
  }
  return norm.silu ? at::silu(x) : x;
}

// The inputs of a norm, in the order x, weight, bias, offset, modulation; absent ones undefined.
struct Inputs {
  FusedNorm norm;
  Tensor x;

  std::vector<Tensor*> all() {
    return {&x, &norm.weight, &norm.bias, &norm.offset, &norm.modulation};
  }
  // As leaves of their own, in float64.
  Inputs wide() {
    Inputs copy = *this;
    for (Tensor* tensor : copy.all()) {
      if (tensor->defined()) *tensor = tensor->detach().to(at::kDouble).requires_grad_(true);
    }
    return copy;
  }
};

struct Case {
  Shape shape;
  int64_t rows;  // of offset and modulation
  bool offset, modulation, silu;
  bool of_pixels = false;
};

Inputs inputs_of(const Case& given, at::ScalarType type, at::ScalarType tables = at::kFloat) {
  const int64_t c = given.shape[1];
  Rng rng(7);
  const auto table = [&](const Shape& shape, double level) {
    return on_gpu(rng.normal(shape) * 0.5 + level, tables);
  };
  Inputs in;
  in.x = image(1, given.shape, type, 3);
  in.norm.groups = given.of_pixels ? 0 : std::min<int64_t>(32, c / 4);
  in.norm.eps = 1e-6;
  in.norm.weight = table({c}, 1);
  in.norm.bias = table({c}, 0);
  if (given.offset) in.norm.offset = table({given.rows, c}, 0);
  if (given.modulation) in.norm.modulation = table({given.rows, 2 * c}, 0);
  in.norm.silu = given.silu;
  for (Tensor* tensor : in.all()) {
    if (tensor->defined()) tensor->requires_grad_(true);
  }
  return in;
}

void expect_norm(const Case& given, const Precision& precision, at::ScalarType tables) {
  Inputs in = inputs_of(given, precision.type, tables);
  Inputs exact = in.wide();
  ASSERT_TRUE(can_fuse_on_cuda(in.x));
  const Tensor dy = image(2, given.shape, precision.type);
  poison(in.x.detach());
  const Tensor y = cuda_norm(in.norm, in.x);
  const Tensor wanted = plain_norm(exact.norm, exact.x);
  EXPECT_TRUE(y.is_contiguous(kLast));
  EXPECT_EQ(y.scalar_type(), precision.type);
  EXPECT_LT(relative_error(y.detach(), wanted.detach()), precision.bound);
  {
    const c10::NoGradGuard no_grad;
    EXPECT_TRUE(cuda_norm(in.norm, in.x).equal(y)) << "inference differs from training";
  }
  poison(in.x.detach());
  y.backward(dy);
  wanted.backward(dy.to(at::kDouble));
  const char* names[] = {"x", "weight", "bias", "offset", "modulation"};
  const auto got = in.all(), right = exact.all();
  for (size_t i = 0; i < got.size(); ++i) {
    if (!got[i]->defined()) continue;
    ASSERT_TRUE(got[i]->grad().defined()) << names[i];
    EXPECT_EQ(got[i]->grad().scalar_type(), got[i]->scalar_type()) << names[i];
    EXPECT_LT(relative_error(got[i]->grad(), right[i]->grad()), precision.bound) << names[i];
  }
}

const std::vector<Shape> kShapes = {{1, 32, 8, 8},
                                    {3, 64, 7, 5},
                                    {1, 64, 64, 64},
                                    {2, 128, 32, 32},
                                    {2, 192, 16, 16},
                                    {5, 320, 8, 8},
                                    {1, 8, 1, 1},
                                    {256, 128, 8, 8},
                                    {1, 1024, 9, 3}};

TEST_F(CudaLayers, NormAndItsGradientsAreThoseOfFloat64) {
  for (const Precision& precision : kPrecisions) {
    for (const Shape& shape : kShapes) {
      for (int options = 0; options < 16; ++options) {
        const auto has = [&](int bit) { return (options >> bit & 1) > 0; };
        const Case given{shape, shape[0], has(0), has(1), has(2), has(3)};
        if (given.of_pixels && shape[1] > kWidestPixelNorm) continue;
        SCOPED_TRACE(testing::Message() << to_string(shape) << " " << precision.type << " offset "
                                        << given.offset << " modulation " << given.modulation
                                        << " silu " << given.silu << " pixels " << given.of_pixels);
        expect_norm(given, precision, at::kFloat);
      }
    }
  }
}

TEST_F(CudaLayers, OneRowServesAllImages) {
  for (const Precision& precision : kPrecisions) {
    SCOPED_TRACE(precision.type);
    for (const bool of_pixels : {false, true})
      expect_norm({{6, 64, 12, 12}, 1, true, true, true, of_pixels}, precision, at::kFloat);
  }
}

TEST_F(CudaLayers, TablesMayHaveTheTypeOfTheImage) {
  for (const Precision& precision : kPrecisions) {
    SCOPED_TRACE(precision.type);
    for (const bool of_pixels : {false, true})
      expect_norm({{4, 96, 8, 8}, 4, true, true, true, of_pixels}, precision, precision.type);
  }
}

TEST_F(CudaLayers, NormSurvivesMeansFarFromZero) {
  Case given{{2, 64, 64, 64}, 2, true, false, true};
  Inputs in = inputs_of(given, at::kFloat);
  in.x = (image(1, given.shape, at::kFloat) + 1000).contiguous(kLast);
  // Both see the same rounded x; the float32 mean is off by up to 1000 2^-24.
  Inputs exact = in.wide();
  EXPECT_LT(
      relative_error(cuda_norm(in.norm, in.x).detach(), plain_norm(exact.norm, exact.x).detach()),
      2e-4);
}

TEST_F(CudaLayers, NormGivesTheSameBitsEveryTime) {
  const Case given{{16, 64, 32, 32}, 16, true, false, true};
  Inputs runs[2] = {inputs_of(given, at::kBFloat16), inputs_of(given, at::kBFloat16)};
  for (Inputs& in : runs) cuda_norm(in.norm, in.x).backward(image(2, given.shape, at::kBFloat16));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(runs[0].all()[i]->grad().equal(runs[1].all()[i]->grad())) << i;
  }
}

at::Generator generator(uint64_t seed) {
  at::Generator made = at::globalContext().defaultGenerator(at::Device(at::kCUDA, 0)).clone();
  made.set_current_seed(seed);
  return made;
}

// A kept number is silu's answer over keep, a dropped one 0. Of n numbers a share keep is kept, to
// sqrt(keep (1 - keep) / n); 5 of those are allowed, a false alarm of 6e-7 had the seed been
// random.
TEST_F(CudaLayers, DropoutKeepsTheShareAndItsGradient) {
  for (const Precision& precision : kPrecisions) {
    const Case given{{8, 64, 32, 32}, 8, true, false, true};
    Inputs in = inputs_of(given, precision.type);
    const double keep = 0.75;
    const Tensor y = cuda_norm(in.norm, in.x, {keep, generator(3)});
    const Tensor mask = (y != 0).to(at::kDouble);
    const auto n = static_cast<double>(y.numel());
    EXPECT_NEAR(mask.mean().item<double>(), keep, 5 * std::sqrt(keep * (1 - keep) / n));
    // Neighbours are dropped independently of each other.
    const Tensor centred = mask - keep;
    for (const int64_t dim : {0, 1, 2, 3}) {
      const double product = (centred * centred.roll(1, dim)).mean().item<double>();
      EXPECT_LT(std::abs(product), 5 * keep * (1 - keep) / std::sqrt(n)) << dim;
    }
    Inputs exact = in.wide();
    const Tensor wanted = plain_norm(exact.norm, exact.x) * mask / keep;
    EXPECT_LT(relative_error(y.detach(), wanted.detach()), precision.bound);
    const Tensor dy = image(2, given.shape, precision.type);
    y.backward(dy);
    wanted.backward(dy.to(at::kDouble));
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_LT(relative_error(in.all()[i]->grad(), exact.all()[i]->grad()), precision.bound) << i;
    }
  }
}

TEST_F(CudaLayers, DropoutIsDrawnFromTheGivenGenerator) {
  Inputs in = inputs_of({{2, 64, 16, 16}, 2, false, false, true}, at::kBFloat16);
  at::Generator drawn = generator(3);
  const Tensor first = cuda_norm(in.norm, in.x, {0.5, drawn});
  EXPECT_TRUE(first.equal(cuda_norm(in.norm, in.x, {0.5, generator(3)})));
  EXPECT_FALSE(first.equal(cuda_norm(in.norm, in.x, {0.5, generator(4)})));
  EXPECT_FALSE(first.equal(cuda_norm(in.norm, in.x, {0.5, drawn}))) << "the generator moves on";
}

void expect_residual(const Precision& precision, const Shape& shape, double scale, bool biased) {
  const int64_t c = shape[1];
  const auto leaf = [](const Tensor& tensor) { return tensor.detach().requires_grad_(true); };
  const auto wide = [&](const Tensor& tensor) { return leaf(tensor.detach().to(at::kDouble)); };
  const Tensor h = leaf(image(1, shape, precision.type)), x = leaf(image(2, shape, precision.type));
  const Tensor bias = biased ? leaf(on_gpu(Rng(3).normal({c}), at::kFloat)) : Tensor();
  const Tensor exact_h = wide(h), exact_x = wide(x), exact_bias = biased ? wide(bias) : Tensor();
  poison(h.detach());
  const Tensor y = cuda_residual(h, x, bias, scale);
  Tensor wanted = exact_h + exact_x;
  if (biased) wanted = wanted + exact_bias.unsqueeze(1).unsqueeze(2);
  wanted = wanted * scale;
  EXPECT_LT(relative_error(y.detach(), wanted.detach()), precision.bound);
  // Once dense, and once as a part of a larger image's channels.
  const Tensor whole = image(4, {shape[0], 2 * c, shape[2], shape[3]}, precision.type);
  for (const Tensor& dy : {image(5, shape, precision.type), whole.slice(1, c, 2 * c)}) {
    for (const Tensor& tensor : {h, x, bias, exact_h, exact_x, exact_bias}) {
      if (tensor.defined()) tensor.mutable_grad() = Tensor();
    }
    poison(h.detach());
    y.backward(dy, /*retain_graph=*/true);
    wanted.backward(dy.to(at::kDouble), /*retain_graph=*/true);
    EXPECT_LT(relative_error(h.grad(), exact_h.grad()), precision.bound);
    EXPECT_LT(relative_error(x.grad(), exact_x.grad()), precision.bound);
    if (!biased) continue;
    EXPECT_EQ(bias.grad().scalar_type(), at::kFloat);
    EXPECT_LT(relative_error(bias.grad(), exact_bias.grad()), precision.bound);
  }
  const c10::NoGradGuard no_grad;
  EXPECT_TRUE(cuda_residual(h.detach().clone(), x, bias, scale).equal(y));
}

TEST_F(CudaLayers, ResidualAndItsGradientsAreThoseOfFloat64) {
  for (const Precision& precision : kPrecisions) {
    for (const Shape& shape : kShapes) {
      for (const double scale : {std::sqrt(0.5), 1.0}) {
        for (const bool biased : {false, true}) {
          SCOPED_TRACE(testing::Message() << to_string(shape) << " " << precision.type << " scale "
                                          << scale << " bias " << biased);
          expect_residual(precision, shape, scale, biased);
        }
      }
    }
  }
}

TEST_F(CudaLayers, TakesOnlyWhatItsKernelsCanRead) {
  const auto taken = [](const Shape& shape, at::ScalarType type) {
    return can_fuse_on_cuda(image(1, shape, type));
  };
  EXPECT_TRUE(taken({1, 8, 4, 4}, at::kBFloat16));
  EXPECT_FALSE(taken({1, 12, 4, 4}, at::kBFloat16));
  EXPECT_TRUE(taken({1, 12, 4, 4}, at::kFloat));
  EXPECT_FALSE(taken({1, 6, 4, 4}, at::kFloat));
  EXPECT_FALSE(taken({1, 8, 4, 4}, at::kDouble));
  EXPECT_FALSE(can_fuse_on_cuda(image(1, {2, 8, 4, 4}, at::kFloat).contiguous()));
  EXPECT_FALSE(can_fuse_on_cuda(at::zeros({1, 8, 4, 4})));
}

}  // namespace
}  // namespace eps::nets
