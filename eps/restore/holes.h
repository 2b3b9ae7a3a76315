// Small holes of a large picture, restored from their surroundings.
//
// Where every pixel is measured alone or not at all, Sigma_star is diagonal, and the answer of a
// local network at a pixel depends on the pivot within its radius only. So a hole needs a window
// around it, not the picture: the estimate E[x0 | x_t, y] in the hole is that of the whole picture,
// if the window lies on the network's grid of pixels.
#pragma once

#include "eps/restore/restoration.h"

namespace eps {

// A `Window` is a part of a picture around a group of holes.
struct Window {
  int64_t top = 0, left = 0, height = 0, width = 0;
  Tensor holes;  // bool (height, width): the pixels that this window restores

  int64_t pixels() const { return height * width; }
  Tensor of(const Tensor& image) const {  // (..., H, W)
    return image.narrow(-2, top, height).narrow(-1, left, width);
  }
};

// Returns windows that reach `margin` pixels beyond their holes at least, or as far as the picture
// does, and begin at multiples of `divisor`, the network's. Each hole is restored by one of them;
// holes near one another share one. measured: bool (H, W).
std::vector<Window> windows_around(const Tensor& measured, int64_t margin, int64_t divisor = 1);

// Returns the windows, or one of the whole picture where they have more pixels than that.
std::vector<Window> cheapest(std::vector<Window> windows, const Problem& problem);

// Returns the measurement within a window.
Problem within(const Problem& problem, const Window& window);

// Restores the holes, window by window. Measured pixels stay as they are, with the deviation and
// the interval of the noise. chi2 is that of the windows. Also returns the samples of the first
// window, its measured pixels included.
std::pair<Restoration, Tensor> restore_holes(const MethodChoice& choice,
                                             const Denoiser& denoiser,
                                             const Problem& problem,
                                             const std::vector<Window>& windows,
                                             const RestorationOptions& options);

}  // namespace eps
