// Features of images kept in files, since the same truths are compared with again and again.
#pragma once

#include "eps/metrics/inception.h"

namespace eps {

// A file is named by the content hash of what its features follow from: the network, the shape and
// the numbers of the images. So nothing in the folder is ever out of date, and all of it may be
// deleted.
class FeatureCache {
 public:
  // The folder is made when it is needed. Empty: nothing is kept.
  explicit FeatureCache(std::string folder) : folder_(std::move(folder)) {}

  // network.features(images), read where they are kept, and kept otherwise. A file that cannot be
  // read or holds something else is replaced. network_hash: content_hash() of the network's file.
  // images: (N, C, H, W), compared as float32.
  std::vector<Tensor> features(const Inception& network,
                               const std::string& network_hash,
                               const Tensor& images) const;

 private:
  std::string folder_;
};

}  // namespace eps
