// Makes the layers of a U-Net's plan, and with each layer its rows in the table of tensors.
#pragma once

#include "eps/nets/plan.h"

namespace eps::nets {

// Weights start as gain * bound(fans) * noise; biases the same, with a gain of their own.
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

  // Adds to `plan`, which must outlive the builder; also sets what its blocks have in common.
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
  BlockLayer block(const std::string& name, int64_t in, int64_t out, BlockOptions options);

  // The starting values of ordinary layers, and of those that should do nothing at first.
  const Init& init() const { return init_; }
  const Init& init_zero() const { return init_zero_; }

 private:
  AttentionLayer attention(const std::string& name, int64_t channels);

  UNetPlan& plan_;
  const bool song_;
  Init init_, init_zero_, init_attention_;
};

}  // namespace eps::nets
