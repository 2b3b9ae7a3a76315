// The configuration and the origin of a checkpoint's network, as JSON.
#pragma once

#include "eps/diffusion/network_input.h"
#include "eps/model/precondition.h"
#include "eps/nets/config.h"

namespace eps {

// A `ModelConfig` holds the arguments that construct EDM's preconditioned networks.
struct ModelConfig {
  nets::UNetConfig network = {};
  Preconditioning preconditioning = {};
  NetworkInput input = {};
  at::ScalarType gpu_arithmetic = at::kFloat;  // trained in, and run in on a GPU
  bool operator==(const ModelConfig&) const = default;
};

// A `Provenance` records how a network came to be; any of it may be unknown.
struct Provenance {
  std::string data = {};                // the training data
  int64_t images_seen = 0;              // in training
  std::vector<std::string> tasks = {};  // the tasks of the training; none: a prior
  std::string sigma_y = {};             // the measurement noise of the training
  bool operator==(const Provenance&) const = default;
};

// The JSON has one level: "class_name" ("EDMPrecond", "VPPrecond", "VEPrecond", "iDDPMPrecond",
// or our own "DiscretePrecond", "DenoiserPrecond" and "AnisotropicPrecond"; absent: the first),
// EDM's fields of the preconditioning and those of the network, and "input" (absent: "prior"). When
// reading, the fields may also be in an object "init_kwargs", and an unknown one is an Error. The
// spectrum of the data is a tensor of the checkpoint's, not part of the text.
std::string to_json(const ModelConfig& config);
ModelConfig parse_model_config(const std::string& json);

std::string to_json(const Provenance& provenance);
Provenance parse_provenance(const std::string& json);

}  // namespace eps
