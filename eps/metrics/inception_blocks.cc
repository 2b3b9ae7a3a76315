// Inception v3 (Szegedy et al. 2016) under torchvision's names, with the pools of FID's graph:
// averages leave the padding out, and the last block has the maximum instead.
#include "eps/metrics/inception_blocks.h"

namespace eps {
namespace {

// Returns a convolution that keeps the size of the image.
nets::FeatureLayer conv_relu(const std::string& name, int64_t out, nets::Extent kernel = {1, 1}) {
  const nets::Extent padding = {kernel[0] / 2, kernel[1] / 2};
  return std::vector<nets::ConvRelu>{{name, out, kernel, 1, padding}};
}

// Returns a convolution without padding.
nets::FeatureLayer valid(const std::string& name, int64_t out, int64_t stride) {
  return std::vector<nets::ConvRelu>{{name, out, {3, 3}, stride, {0, 0}}};
}

// Returns rows and columns of a 3 x 3 neighbourhood, side by side.
nets::FeatureLayer cross(const std::string& name, int64_t out) {
  return std::vector<nets::ConvRelu>{{name + "a", out, {1, 3}, 1, {0, 1}},
                                     {name + "b", out, {3, 1}, 1, {1, 0}}};
}

const nets::Pool kHalve = {.kernel = 3, .stride = 2};
constexpr nets::Pool::Kind kAverage = nets::Pool::Kind::average,
                           kMaximum = nets::Pool::Kind::maximum;
nets::Pool smooth(nets::Pool::Kind kind) {
  return {.kind = kind, .kernel = 3, .stride = 1, .padding = 1};
}

InceptionBlock stem() {
  return {"stem",
          {{{valid("Conv2d_1a_3x3", 32, 2),
             valid("Conv2d_2a_3x3", 32, 1),
             conv_relu("Conv2d_2b_3x3", 64, {3, 3}),
             kHalve,
             conv_relu("Conv2d_3b_1x1", 80),
             valid("Conv2d_4a_3x3", 192, 1),
             kHalve}}}};
}

// Returns torchvision's InceptionA.
InceptionBlock mixed_5(const std::string& name, int64_t pooled) {
  const std::string p = name + ".branch";
  return {name,
          {{{conv_relu(p + "1x1", 64)},
            {conv_relu(p + "5x5_1", 48), conv_relu(p + "5x5_2", 64, {5, 5})},
            {conv_relu(p + "3x3dbl_1", 64),
             conv_relu(p + "3x3dbl_2", 96, {3, 3}),
             conv_relu(p + "3x3dbl_3", 96, {3, 3})},
            {smooth(kAverage), conv_relu(p + "_pool", pooled)}}}};
}

// Returns InceptionB.
InceptionBlock mixed_6a() {
  const std::string p = "Mixed_6a.branch";
  return {"Mixed_6a",
          {{{valid(p + "3x3", 384, 2)},
            {conv_relu(p + "3x3dbl_1", 64),
             conv_relu(p + "3x3dbl_2", 96, {3, 3}),
             valid(p + "3x3dbl_3", 96, 2)},
            {kHalve}}}};
}

// Returns InceptionC: 7 x 7 as rows and columns in turn, `width` channels between them.
InceptionBlock mixed_6(const std::string& name, int64_t width) {
  const std::string p = name + ".branch";
  return {name,
          {{{conv_relu(p + "1x1", 192)},
            {conv_relu(p + "7x7_1", width),
             conv_relu(p + "7x7_2", width, {1, 7}),
             conv_relu(p + "7x7_3", 192, {7, 1})},
            {conv_relu(p + "7x7dbl_1", width),
             conv_relu(p + "7x7dbl_2", width, {7, 1}),
             conv_relu(p + "7x7dbl_3", width, {1, 7}),
             conv_relu(p + "7x7dbl_4", width, {7, 1}),
             conv_relu(p + "7x7dbl_5", 192, {1, 7})},
            {smooth(kAverage), conv_relu(p + "_pool", 192)}}}};
}

// Returns InceptionD.
InceptionBlock mixed_7a() {
  const std::string p = "Mixed_7a.branch";
  return {"Mixed_7a",
          {{{conv_relu(p + "3x3_1", 192), valid(p + "3x3_2", 320, 2)},
            {conv_relu(p + "7x7x3_1", 192),
             conv_relu(p + "7x7x3_2", 192, {1, 7}),
             conv_relu(p + "7x7x3_3", 192, {7, 1}),
             valid(p + "7x7x3_4", 192, 2)},
            {kHalve}}}};
}

// Returns InceptionE.
InceptionBlock mixed_7(const std::string& name, nets::Pool::Kind pool) {
  const std::string p = name + ".branch";
  return {name,
          {{{conv_relu(p + "1x1", 320)},
            {conv_relu(p + "3x3_1", 384), cross(p + "3x3_2", 384)},
            {conv_relu(p + "3x3dbl_1", 448),
             conv_relu(p + "3x3dbl_2", 384, {3, 3}),
             cross(p + "3x3dbl_3", 384)},
            {smooth(pool), conv_relu(p + "_pool", 192)}}}};
}

}  // namespace

const std::vector<InceptionBlock>& inception_blocks() {
  static const std::vector<InceptionBlock> blocks = {stem(),
                                                     mixed_5("Mixed_5b", 32),
                                                     mixed_5("Mixed_5c", 64),
                                                     mixed_5("Mixed_5d", 64),
                                                     mixed_6a(),
                                                     mixed_6("Mixed_6b", 128),
                                                     mixed_6("Mixed_6c", 160),
                                                     mixed_6("Mixed_6d", 160),
                                                     mixed_6("Mixed_6e", 192),
                                                     mixed_7a(),
                                                     mixed_7("Mixed_7b", kAverage),
                                                     mixed_7("Mixed_7c", kMaximum)};
  return blocks;
}

}  // namespace eps
