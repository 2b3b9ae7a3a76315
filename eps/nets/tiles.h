// Evaluation of a network tile by tile, for pictures whose activations do not fit into memory.
#pragma once

#include "eps/nets/unet.h"

namespace eps::nets {

// A `Tiling` divides images among passes of the network. Each pass has the same tile of some
// images, with a halo as wide as the network's receptive radius, so that its answer is that of the
// whole image, whatever the tiles.
struct Tiling {
  int64_t height = 0, width = 0;  // of a tile without its halo; multiples of the plan's divisor
  int64_t halo = 0;               // likewise; 0: a tile is the whole image
  int64_t images = 1;             // of a pass
};

// Returns the bytes that a pass takes at its peak for each pixel of the finest level, about: the
// activations that are alive at once, in inference.
double bytes_of_pixel(const UNetPlan& plan, at::ScalarType dtype);

// Returns the tiling with the largest tiles whose pass takes at most `bytes`: all images at once if
// they fit, then as many whole images as fit, then tiles of one. A network that sees all of an
// image has no tiles.
Tiling tiling_for(const UNetPlan& plan,
                  at::ScalarType dtype,
                  at::IntArrayRef images,
                  int64_t bytes);

// Returns network.forward() of the images, in inference, pass by pass.
Tensor forward_in_tiles(const UNet& network,
                        const Tiling& tiling,
                        const Tensor& x,
                        const Tensor& noise_labels,
                        const Tensor& class_labels = {});

}  // namespace eps::nets
