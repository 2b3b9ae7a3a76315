// Random crops of pictures of different sizes.
//
// A crop of side S shows a square region of side r S, reduced r times. Along each axis, output
// pixel i has its centre c = first + (i + 1/2) r in pixels of the picture, and is the weighted mean
//
//   sum_j L((j + 1/2 - c) / r) p_j / sum_j L((j + 1/2 - c) / r),   L(x) = sinc(x) sinc(x / 3)
//
// over the pixels j of the picture with |j + 1/2 - c| < 3 r: the filter of resize_lanczos(), here
// for regions anywhere, without rounding to bytes, and for a whole batch at once.
#pragma once

#include "eps/data/pictures.h"

namespace eps {

struct CropOptions {
  int64_t side = 64;       // in pixels
  double reduce = 1;       // largest r; 1: pixels as they are
  bool transpose = false;  // half of the crops have rows and columns exchanged
};

// A `Crops` has as many places as disjoint unreduced crops fit into the pictures: a picture is
// drawn in proportion to its area, one smaller than a crop never. A crop of a picture has r uniform
// from 1 to options.reduce, or to what the picture allows, and then a region anywhere, with its
// corner on a whole pixel.
class Crops final : public ImageSet {
 public:
  Crops(Pictures pictures, const CropOptions& options);

  int64_t size() const override { return ends_.back(); }
  int64_t pictures() const override { return pictures_.size(); }
  Shape image_shape() const override;
  int64_t label_width() const override { return 0; }
  LabelledImages draw(const std::vector<int64_t>& places,
                      Rng& rng,
                      at::Device device) const override;
  int64_t bytes() const override { return static_cast<int64_t>(pictures_.pixels.nbytes()); }
  void to(at::Device device) override { pictures_.pixels = pictures_.pixels.to(device); }

 private:
  Tensor draw_regions(const std::vector<int64_t>& places, Rng& rng) const;
  Tensor windows(const Tensor& regions) const;
  Tensor weights(const Tensor& first, const Tensor& length, const Tensor& reduction) const;
  Tensor reduced(const Tensor& windows, const Tensor& regions) const;

  Pictures pictures_;
  CropOptions options_;
  std::vector<int64_t> ends_;  // end of each picture, in places
  // All regions of a batch are gathered as windows of one size, which begin `margin_` pixels before
  // the region.
  int64_t margin_ = 0, window_ = 0;
};

}  // namespace eps
