// The layers of the U-Net as data: their tensors, initial values and order.
//
// A plan holds no numbers. Its layers refer to tensors by index into one table, so the same plan
// counts parameters without allocation, and runs on any weights: trained, averaged, rounded.
#pragma once

#include <optional>

#include "eps/nets/config.h"

namespace eps::nets {

// A `TensorSpec` is one row of the table of tensors. Initial values: `scale` itself, scale * U(-1,
// 1), scale * N(0, 1), or the normalised outer product of the resampling filter.
struct TensorSpec {
  enum class Fill { constant, uniform, normal, filter };
  enum class Role { spatial, embedding };  // acts on images, or on the vector of the noise level

  std::string name;
  Shape shape;
  Fill fill = Fill::constant;
  double scale = 0;
  bool is_buffer = false;  // not trained
  Role role = Role::spatial;

  int64_t numel() const { return c10::multiply_integers(shape); }
};

constexpr int64_t kAbsent = -1;

struct LinearLayer {
  int64_t weight = kAbsent, bias = kAbsent;
  explicit operator bool() const { return weight != kAbsent; }
};

struct NormLayer {
  int64_t weight = kAbsent, bias = kAbsent;
  int64_t groups = 0;  // 0: the root mean square over the channels of each pixel
  double eps = 0;
};

// Resampling by a factor of 2: with the resampling filter, or by the taps of the convolution.
// `merge` convolves 2 x 2 pixels into one, `split` one pixel into 2 x 2. `stride` convolves at
// every other pixel, with a border of zeros on all sides; `corner` has it on the right and below
// only.
enum class Resample { none, up, down, merge, split, stride, corner };

// Returns whether the layer halves the sides of the image.
inline bool halves(Resample resample) {
  return resample == Resample::down || resample == Resample::merge ||
         resample == Resample::stride || resample == Resample::corner;
}

// A `ConvLayer` resamples by a factor of 2, then convolves with k x k taps; k = 0: resampling only.
struct ConvLayer {
  int64_t weight = kAbsent, bias = kAbsent, filter = kAbsent;
  int64_t kernel = 0;
  Resample resample = Resample::none;
  bool fused = false;        // convolve first, on the fine grid, then filter without padding
  int64_t image_inputs = 0;  // > 0: number of leading inputs that are the image; see widen_input()
};

struct AttentionLayer {
  NormLayer norm2;
  ConvLayer qkv, proj;
  int64_t heads = 1;
};

struct BlockLayer {
  NormLayer norm0, norm1;
  ConvLayer conv0, conv1;
  LinearLayer affine;
  std::optional<ConvLayer> skip;
  std::optional<AttentionLayer> attention;
};

// A `Step` is one operation on the state x, the stack of skips and the side image aux.
struct Step {
  enum class Kind {
    conv,          // x = conv(x), pushed
    plain_conv,    // x = conv(x)
    merge,         // x is pushed, x = conv(x)
    split,         // x = conv(x) + popped
    block,         // x = block(x), pushed
    joined_block,  // x = block([x, popped])
    plain_block,   // x = block(x)
    aux_down,      // aux = conv(aux)
    aux_skip,      // x = x + conv(aux), replaces the skip pushed last
    aux_residual,  // x = aux = (x + conv(aux)) / sqrt(2), replaces the skip pushed last
    aux_up,        // aux = conv(aux)
    head           // aux = conv(silu(norm(x))) (+ aux)
  };
  Kind kind;
  ConvLayer conv;
  NormLayer norm;
  BlockLayer block;
};

struct UNetPlan {
  explicit UNetPlan(const UNetConfig& config);
  // Returns a plan with neither tensors nor steps, for a function from outside.
  static UNetPlan external(const UNetConfig& config);

  UNetConfig config;
  std::vector<TensorSpec> tensors;  // EDM's names, without the `model.` of its preconditioner
  int64_t frequencies = kAbsent;    // tensor of the Fourier embedding
  LinearLayer map_layer0, map_layer1, map_label, map_augment;
  std::vector<Step> steps;

  // The blocks of the two families differ in these two values.
  bool adaptive_scale = false;
  double skip_scale = 1;

  int64_t parameter_tensors() const;
  int64_t parameter_count() const;

  // Returns the factor between pixels and the coarsest level, which divides the image's sides.
  int64_t divisor() const { return config.divisor(); }
  // Returns the distance, in rows and columns, beyond which no input pixel affects an output pixel;
  // none where every input does.
  std::optional<int64_t> receptive_radius() const;

 private:
  UNetPlan() = default;
};

}  // namespace eps::nets
