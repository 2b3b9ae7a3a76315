// A builder of the layers of a U-Net's plan, and of their rows in the table of tensors.
#pragma once

#include "eps/nets/plan.h"

namespace eps::nets {

// An `Init` describes initial values: weights are gain * bound(fans) * noise; biases the same, with
// a separate gain.
struct Init {
  enum class Mode { xavier_uniform, kaiming_uniform, kaiming_normal } mode;
  double weight = 1;
  double bias = 0;

  TensorSpec::Fill fill() const;
  double bound(int64_t fan_in, int64_t fan_out) const;
};

class LayerBuilder {
 public:
  struct BlockOptions {
    Resample resample = Resample::none;
    bool attention = false;
  };

  // Adds layers to `plan`, which must outlive the builder; the constructor sets the common
  // properties of its blocks.
  explicit LayerBuilder(UNetPlan& plan);

  int64_t tensor(TensorSpec spec);
  LinearLayer linear(const std::string& name, int64_t in, int64_t out, Init init, bool bias = true);
  NormLayer norm(const std::string& name, int64_t channels);
  ConvLayer conv(const std::string& name,
                 int64_t in,
                 int64_t out,
                 int64_t kernel,
                 Init init,
                 Resample resample = Resample::none);
  ConvLayer merge(const std::string& name, int64_t in, int64_t out);
  ConvLayer split(const std::string& name, int64_t in, int64_t out);
  // A convolution of 3 x 3 taps that resamples, without a filter.
  ConvLayer resampler(const std::string& name, int64_t channels, Resample resample);
  BlockLayer block(const std::string& name, int64_t in, int64_t out, BlockOptions options);

  // Returns the initial values of ordinary layers; init_zero() returns those of layers that are
  // near zero at first.
  const Init& init() const { return init_; }
  const Init& init_zero() const { return init_zero_; }

 private:
  AttentionLayer attention(const std::string& name, int64_t channels);

  UNetPlan& plan_;
  const bool song_;
  Init init_, init_zero_, init_attention_;
};

}  // namespace eps::nets
