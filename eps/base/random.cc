// Philox4x32-10, and the Box-Muller transform in float64.
#include "eps/base/random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <numbers>
#include <numeric>

namespace eps {
namespace {

// Returns 53 random bits as a number in [0, 1).
double unit_interval(uint32_t high, uint32_t low) {
  const uint64_t bits = (uint64_t{high} << 32 | low) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

// Returns the two numbers of counter block `block`.
std::array<double, 2> pair(
    uint64_t seed, uint64_t image, uint32_t draw, uint32_t block, bool gaussian) {
  const auto word =
      philox({block, draw, static_cast<uint32_t>(image), static_cast<uint32_t>(image >> 32)}, seed);
  const double u = unit_interval(word[0], word[1]);
  const double v = unit_interval(word[2], word[3]);
  if (!gaussian) return {u, v};
  const double radius = std::sqrt(-2 * std::log1p(-u));
  const double angle = 2 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

Rng::Rng(uint64_t seed, int64_t images) : seed_(seed) {
  check(images >= 1, "Rng: the number of images must be at least 1, got ", images);
  images_.resize(static_cast<size_t>(images));
  std::iota(images_.begin(), images_.end(), uint64_t{0});
}

Rng::Rng(uint64_t seed, std::vector<uint64_t> images) : seed_(seed), images_(std::move(images)) {
  check(!images_.empty(), "Rng: at least one image is wanted");
}

at::Generator make_generator(at::Device device) {
  if (device.is_cpu()) return at::detail::createCPUGenerator();
  return at::globalContext().defaultGenerator(device).clone();
}

Rng Rng::on_device(at::Device device, uint64_t seed, std::vector<uint64_t> images) {
  Rng rng(seed, std::move(images));
  if (!device.is_cpu()) {
    rng.generator_ = make_generator(device);
    rng.generator_.set_current_seed(seed);
  }
  return rng;
}

Rng Rng::slice(int64_t begin, int64_t end) const {
  check(0 <= begin && begin < end && end <= images(),
        "Rng: no images ",
        begin,
        " to ",
        end,
        " of ",
        images());
  Rng part = *this;
  part.images_ = {images_.begin() + begin, images_.begin() + end};
  return part;
}

Tensor Rng::normal(const Shape& shape, const at::TensorOptions& options) {
  return draw(shape, options, true);
}

Tensor Rng::uniform(const Shape& shape, const at::TensorOptions& options) {
  return draw(shape, options, false);
}

Tensor Rng::draw(const Shape& shape, const at::TensorOptions& options, bool gaussian) {
  const bool one_stream = images() == 1;
  check(one_stream || (!shape.empty() && shape[0] == images()),
        "Rng: a draw for ",
        images(),
        " images cannot have the shape ",
        to_string(shape));
  if (generator_.defined()) {
    const auto where = options.has_device() ? options : options.device(generator_.device());
    return gaussian ? at::randn(shape, generator_, where) : at::rand(shape, generator_, where);
  }
  const Tensor numbers = at::empty(shape, at::kDouble);
  const int64_t per_image = numbers.numel() / images();
  const int64_t pairs = (per_image + 1) / 2;
  double* out = numbers.data_ptr<double>();
  at::parallel_for(0, images() * pairs, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / pairs;
      const int64_t block = i % pairs;
      const auto two = pair(seed_,
                            images_[static_cast<size_t>(image)],
                            draws_,
                            static_cast<uint32_t>(block),
                            gaussian);
      double* at = out + image * per_image + 2 * block;
      at[0] = two[0];
      if (2 * block + 1 < per_image) at[1] = two[1];
    }
  });
  ++draws_;
  return numbers.to(options);
}

uint64_t derive_seed(uint64_t seed, Stream purpose, uint64_t index) {
  const auto word = philox({static_cast<uint32_t>(purpose),
                            static_cast<uint32_t>(index),
                            static_cast<uint32_t>(index >> 32),
                            0x5eed},
                           seed);
  return uint64_t{word[0]} << 32 | word[1];
}

}  // namespace eps
