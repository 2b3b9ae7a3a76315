// Convolution with a kernel that is not separable, and a border that is not circular.
#pragma once

#include "eps/operators/blur.h"
#include "eps/operators/border.h"

namespace eps {

// A `BorderedBlur` continues the image beyond its frame, convolves, and crops. The convolution is
// circular on the larger canvas, and the crop takes away what wraps around. A'A has no fast basis,
// but A is a circular blur but for pixels near the border. A valid blur, whose canvas is the frame,
// is a masked one (MaskedBlur), or on a large frame a framed one (FramedBlur); any other is an
// edged one (EdgedBlur) where these pixels are few.
class BorderedBlur final : public LinearOperator {
 public:
  BorderedBlur(const Tensor& kernel, int64_t height, int64_t width, Border border);

  Tensor apply(const Tensor& x) const override;
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override;
  bool closed_form() const override { return solvable_; }
  const Spectral& functions() const override;
  // Returns y in its place in the frame of x, and zeros around it.
  Tensor picture(const Tensor& y) const override;
  std::map<std::string, Tensor> parameters() const override { return canvas_.parameters(); }
  int64_t batch() const override { return canvas_.batch(); }

 private:
  struct Axis {
    int64_t begin;   // of the crop on the canvas
    int64_t length;  // of y
    int64_t place;   // of y in the frame of x
    Tensor padding;  // (canvas, n); undefined for valid, where the canvas is the frame
  };
  static Axis make_axis(Border border, int64_t n, int64_t k, at::Device device);

  const int64_t height_, width_;
  const Axis rows_, columns_;
  const CircularBlur canvas_;
  const LinearOperator& exact() const;  // the same, in the frame of x; made when first wanted

  // Returns 1 at pixels of the frame whose kernel does not leave it, and 0 elsewhere: (1, 1, H, W).
  Tensor inside() const;

  const Border border_;
  bool solvable_ = false;  // whether exact() is there
  mutable std::once_flag once_;
  mutable std::unique_ptr<const LinearOperator> exact_;
};

// Returns an image of the frame H x W that is y at (top, left), and 0 elsewhere.
Tensor in_frame(const Tensor& y, int64_t top, int64_t left, int64_t height, int64_t width);

}  // namespace eps
