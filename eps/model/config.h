// What a checkpoint says of its network in words: how it is built, and how it came to be.
#pragma once

#include "eps/model/precondition.h"

namespace eps {

// What EDM's preconditioned networks are constructed with.
struct ModelConfig {
  nets::UNetConfig network = {};
  Preconditioning preconditioning = {};
  NetworkInput input = {};  // what the network sees
  bool use_fp16 = false;    // trained for, and on a GPU run in, float16
  bool operator==(const ModelConfig&) const = default;
};

// How a network came to be; any of it may be unknown.
struct Provenance {
  std::string data = {};                // what it was trained on
  int64_t images_seen = 0;              // how long
  std::vector<std::string> tasks = {};  // the tasks it was trained for; none: a prior
  std::string sigma_y = {};             // the measurement noise it was trained for
  bool operator==(const Provenance&) const = default;
};

// One level of JSON: "class_name" ("EDMPrecond", "VPPrecond", "VEPrecond", "iDDPMPrecond" or
// our own "AnisotropicPrecond"; absent: the first), EDM's fields of the preconditioning and those
// of the network, and "input" (absent: "prior"). When reading, the fields may also lie in an object
// "init_kwargs", and an unknown one is an Error. The spectrum of the data is a tensor of the
// checkpoint's, not part of the text.
std::string to_json(const ModelConfig& config);
ModelConfig parse_model_config(const std::string& json);

std::string to_json(const Provenance& provenance);
Provenance parse_provenance(const std::string& json);

}  // namespace eps
