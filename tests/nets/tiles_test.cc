// Networks evaluated tile by tile.
#include "eps/nets/tiles.h"

#include <gtest/gtest.h>

#include "tests/small_networks.h"

namespace eps::nets {
namespace {

// Sides that tiles and levels do not divide; labels of noise for each image.
TEST(Tiles, GiveTheAnswerOfTheWholeImage) {
  for (const UNetConfig& config : {small_local(), small_patched()}) {
    const UNet network = wave_network(config);
    const Tensor x = waves({3, 3, 101, 90}), noise = at::tensor({-1.0, 0.2, 0.8}, at::kFloat);
    const Tensor whole = network.forward(x, noise);
    const int64_t divisor = config.divisor();
    const int64_t halo = (*network.plan().receptive_radius() + divisor - 1) / divisor * divisor;
    for (const Tiling& tiling : {Tiling{32, 32, halo, 1},
                                 Tiling{8, 96, halo, 2},
                                 Tiling{48, 16, halo, 3},
                                 Tiling{101, 90, 0, 2}}) {
      const Tensor tiled = forward_in_tiles(network, tiling, x, noise);
      EXPECT_LT(relative_error(tiled, whole), 1e-6) << tiling.height << " " << tiling.width;
    }
    // A narrower halo shows that the comparison would see a seam.
    const Tensor seams = forward_in_tiles(network, {32, 32, divisor, 1}, x, noise);
    EXPECT_GT(relative_error(seams, whole), 1e-4);
  }
}

TEST(Tiles, AreAsLargeAsMemoryAllows) {
  const UNetPlan plan(unet_preset("local"));
  const double pixel = bytes_of_pixel(plan, at::kFloat);
  const auto with_pixels = [&](double pixels) {
    return tiling_for(plan, at::kFloat, {8, 12, 480, 640}, static_cast<int64_t>(pixels * pixel));
  };
  const Tiling all = with_pixels(8 * 480 * 640 + 1);
  EXPECT_EQ(all.images, 8);
  EXPECT_EQ(all.halo, 0);
  const Tiling some = with_pixels(3.5 * 480 * 640);
  EXPECT_EQ(some.images, 3);
  EXPECT_EQ(some.halo, 0);
  const int64_t halo = (*plan.receptive_radius() + 7) / 8 * 8;
  const Tiling tiles = with_pixels(500.0 * 500);
  EXPECT_EQ(tiles.images, 1);
  EXPECT_EQ(tiles.halo, halo);
  EXPECT_LE(tiles.height + 2 * halo, 500);
  EXPECT_LE(tiles.width + 2 * halo, 500);
  EXPECT_EQ(tiles.height % 8 + tiles.width % 8, 0);
  // Tiles narrower than the halo are not worth their work, whatever the memory.
  EXPECT_GE(with_pixels(100).height, halo - 8);
}

TEST(Tiles, AreForLocalNetworksOnly) {
  const UNetPlan plan(small_ddpmpp());
  const Tiling tiling = tiling_for(plan, at::kFloat, {4, 3, 64, 64}, 1000);
  EXPECT_EQ(tiling.images, 1);
  EXPECT_EQ(tiling.halo, 0);
  const UNet network = wave_network(small_ddpmpp());
  const Tensor x = waves({2, 3, 8, 8}), noise = at::tensor({0.3}, at::kFloat);
  const Tensor alone = forward_in_tiles(network, {8, 8, 0, 1}, x, noise);
  EXPECT_LT(relative_error(alone, network.forward(x, noise)), 1e-6);
}

}  // namespace
}  // namespace eps::nets
