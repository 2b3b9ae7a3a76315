// Random numbers: one counter-based stream per image.
//
// Number i of draw j for image n is a pure function of (seed, n, j, i): Philox4x32-10 (Salmon et
// al. 2011) on the counter (i, j, n) under the key `seed`. So an image's noise does not depend on
// the batch it is in, on its neighbours or on the number of processes; and since the numbers are
// always made on the CPU, in float64, it is the same noise on every device and for every dtype.
//
// Training on a GPU wants more numbers a second than a CPU makes: Rng::on_device() draws from the
// device's own generator instead, reproducible on that device for the same batches.
#pragma once

#include <array>

#include "eps/base/streams.h"

namespace eps {

class Rng {
 public:
  // Images 0, 1, ..., images - 1.
  explicit Rng(uint64_t seed, int64_t images = 1);
  // The images with these numbers.
  Rng(uint64_t seed, std::vector<uint64_t> images);
  // One stream for all images, made on the device; on a CPU, the streams of these images.
  static Rng on_device(at::Device device, uint64_t seed, std::vector<uint64_t> images);

  // Independent N(0, 1) or uniform [0, 1) numbers. shape[0] is the number of images, row n coming
  // from the stream of image n; a generator of one image fills any shape from its one stream. They
  // lie where the options say, or else where they are made.
  Tensor normal(const Shape& shape, const at::TensorOptions& options = at::kDouble);
  Tensor uniform(const Shape& shape, const at::TensorOptions& options = at::kDouble);

  int64_t images() const { return static_cast<int64_t>(images_.size()); }

 private:
  Tensor draw(const Shape& shape, const at::TensorOptions& options, bool gaussian);

  uint64_t seed_;
  std::vector<uint64_t> images_;
  uint32_t draws_ = 0;
  at::Generator generator_ = {};  // defined: the device's own
};

// Ten rounds of Philox4x32 (exposed for its known-answer test).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key);

}  // namespace eps
