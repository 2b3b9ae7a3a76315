// Images to train on, all of one shape: those of a data set, or crops of pictures.
#pragma once

#include "eps/base/random.h"

namespace eps {

// A `LabelledImages` holds images (N, C, H, W) as float32 in [-1, 1] and their labels (N,
// label_width), undefined where there are none.
struct LabelledImages {
  Tensor images, labels;
};

// An `ImageSet` is a list of places from which images are drawn. An image is a pure function of its
// place and of a stream of random numbers.
class ImageSet {
 public:
  virtual ~ImageSet() = default;

  virtual int64_t size() const = 0;         // places: an epoch has an image from each
  virtual int64_t pictures() const = 0;     // images, or pictures, to which the places belong
  virtual Shape image_shape() const = 0;    // (C, H, W)
  virtual int64_t label_width() const = 0;  // classes, or the length of a label vector; 0: none

  // Returns an image from each place, on the device. `rng` has a stream for each place and draws on
  // the CPU, so that the choice does not depend on the device; nothing is read back from a GPU.
  virtual LabelledImages draw(const std::vector<int64_t>& places,
                              Rng& rng,
                              at::Device device) const = 0;

  virtual int64_t bytes() const = 0;  // memory of the images
  virtual void to(at::Device device) = 0;
};

}  // namespace eps
