// Features of images kept in files, since the same truths are compared again and again.
#pragma once

#include "eps/metrics/inception.h"

namespace eps {

// A `FeatureCache` names a file by the content hash of the network, the shape and the numbers of
// the images. So no file is ever out of date, and any may be deleted.
class FeatureCache {
 public:
  // The folder is made when it is needed. An empty name means that nothing is kept.
  explicit FeatureCache(std::string folder) : folder_(std::move(folder)) {}

  // Returns network.features(images), from the file if there is one; else the file is written. A
  // file that cannot be read or holds something else is replaced. network_hash: content_hash() of
  // the network's file. images: (N, C, H, W), compared as float32.
  std::vector<Tensor> features(const Inception& network,
                               const std::string& network_hash,
                               const Tensor& images) const;

 private:
  std::string folder_;
};

}  // namespace eps
