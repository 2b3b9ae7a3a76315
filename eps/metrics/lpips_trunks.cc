// AlexNet, VGG16 and SqueezeNet 1.1 under torchvision's names and numbers.
#include "eps/metrics/lpips_trunks.h"

namespace eps {
namespace {

constexpr bool kTap = true;

// Returns module `number` of torchvision's `features`, whose ReLU is the next.
nets::FeatureBlock conv(
    int64_t number, int64_t out, int64_t kernel, int64_t stride, int64_t padding, bool tap) {
  const std::string name = "features." + std::to_string(number);
  return {
      {{std::vector<nets::ConvRelu>{{name, out, {kernel, kernel}, stride, {padding, padding}}}}},
      tap};
}

nets::FeatureBlock conv3(int64_t number, int64_t out, bool tap = false) {
  return conv(number, out, 3, 1, 1, tap);
}

// Returns a fire module: few channels, then many by small and by large kernels, joined (Iandola et
// al. 2016).
nets::FeatureBlock fire(int64_t number, int64_t squeeze, int64_t expand, bool tap = false) {
  const std::string name = "features." + std::to_string(number);
  return {{{std::vector<nets::ConvRelu>{{name + ".squeeze", squeeze}},
            std::vector<nets::ConvRelu>{{name + ".expand1x1", expand},
                                        {name + ".expand3x3", expand, {3, 3}, 1, {1, 1}}}}},
          tap};
}

nets::FeatureBlock max_pool(int64_t kernel, bool ceil_mode = false) {
  return {{{nets::Pool{.kernel = kernel, .ceil_mode = ceil_mode}}}};
}

// Returns AlexNet (Krizhevsky 2014); every ReLU is a feature.
nets::FeatureNet alex() {
  return {conv(0, 64, 11, 4, 2, kTap),
          max_pool(3),
          conv(3, 192, 5, 1, 2, kTap),
          max_pool(3),
          conv3(6, 384, kTap),
          conv3(8, 256, kTap),
          conv3(10, 256, kTap)};
}

// Returns VGG16 (Simonyan and Zisserman 2015); the last ReLU before each pool is a feature.
nets::FeatureNet vgg() {
  return {conv3(0, 64),
          conv3(2, 64, kTap),
          max_pool(2),
          conv3(5, 128),
          conv3(7, 128, kTap),
          max_pool(2),
          conv3(10, 256),
          conv3(12, 256),
          conv3(14, 256, kTap),
          max_pool(2),
          conv3(17, 512),
          conv3(19, 512),
          conv3(21, 512, kTap),
          max_pool(2),
          conv3(24, 512),
          conv3(26, 512),
          conv3(28, 512, kTap)};
}

// Returns SqueezeNet 1.1. Features: the first ReLU, the last fire module before each pool, and all
// behind the last.
nets::FeatureNet squeeze() {
  return {conv(0, 64, 3, 2, 0, kTap),
          max_pool(3, true),
          fire(3, 16, 64),
          fire(4, 16, 64, kTap),
          max_pool(3, true),
          fire(6, 32, 128),
          fire(7, 32, 128, kTap),
          max_pool(3, true),
          fire(9, 48, 192, kTap),
          fire(10, 48, 192, kTap),
          fire(11, 64, 256, kTap),
          fire(12, 64, 256, kTap)};
}

}  // namespace

const std::vector<LpipsTrunk>& lpips_trunks() {
  static const std::vector<LpipsTrunk> trunks = {
      {"alex", 31, alex()}, {"vgg", 16, vgg()}, {"squeeze", 17, squeeze()}};
  return trunks;
}

}  // namespace eps
