// Random numbers: one counter-based stream per image.
//
// Number i of draw j for image n is a pure function of (seed, n, j, i): Philox4x32-10 (Salmon et
// al. 2011) on the counter (i, j, n) under the key `seed`. The noise of an image therefore does not
// depend on its batch, on the other images or on the number of processes. The CPU always computes
// the numbers in float64, so that the noise is the same on every device and for every dtype.
//
// Training on a GPU needs more numbers a second than a CPU computes: Rng::on_device() draws from
// the generator of the device instead, reproducible on that device for the same batches.
#pragma once

#include <array>

#include "eps/base/streams.h"

namespace eps {

class Rng {
 public:
  // Makes the streams of the images 0, 1, ..., images - 1.
  explicit Rng(uint64_t seed, int64_t images = 1);
  // Makes the streams of the images with these numbers.
  Rng(uint64_t seed, std::vector<uint64_t> images);
  // Makes one stream for all images, computed on the device; on a CPU, the streams of these images.
  static Rng on_device(at::Device device, uint64_t seed, std::vector<uint64_t> images);

  // Returns independent N(0, 1) or uniform [0, 1) numbers. shape[0] is the number of images, and
  // row n comes from the stream of image n; a generator of one image fills any shape from its one
  // stream. The numbers are on the device of the options, or else on the device that computes them.
  Tensor normal(const Shape& shape, const at::TensorOptions& options = at::kDouble);
  Tensor uniform(const Shape& shape, const at::TensorOptions& options = at::kDouble);

  // Returns the streams of the images [begin, end) at the current draw of this generator. The slice
  // draws the numbers that this generator would draw for these images; on a device the slice shares
  // the one stream of this generator.
  Rng slice(int64_t begin, int64_t end) const;

  int64_t images() const { return static_cast<int64_t>(images_.size()); }

 private:
  Tensor draw(const Shape& shape, const at::TensorOptions& options, bool gaussian);

  uint64_t seed_;
  std::vector<uint64_t> images_;
  uint32_t draws_ = 0;
  at::Generator generator_ = {};  // defined: the generator of the device
};

// Computes ten rounds of Philox4x32 (public for the known-answer test).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint64_t key);

// Returns a new generator of libtorch's on the device; set its seed before use. A clone of the
// default generator would do as well, but libtorch 1.13 leaks clones of the CPU's.
at::Generator make_generator(at::Device device);

}  // namespace eps
