// A U-Net of another program as ours: the same layers under other names.
//
// Networks of the family of ADM (Dhariwal and Nichol 2021) compute the same function as our plan of
// a DhariwalUNet. A `ForeignLayout` says where each of our layers has its tensors; what remains is
// the order of the rows of q, k and v, and the shapes of 1 x 1 convolutions.
#pragma once

#include "eps/io/safetensors.h"
#include "eps/model/config.h"

namespace eps {

// Order of the 3 C rows that give q, k and v: by head, then q, k, v, then channel of the head
// (`legacy`), or q, k, v, then head, then channel (`parts`).
enum class QkvOrder { legacy, parts };

// A `ForeignLayout` maps our names of layers, blocks, and parts of blocks to theirs.
struct ForeignLayout {
  std::map<std::string, std::string> layers;      // "enc.64x64_block0": "input_blocks.1.0"
  std::map<std::string, std::string> attentions;  // "enc.64x64_block0": "input_blocks.1.1"
  std::map<std::string, std::string> parts;       // "conv0": "in_layers.2"
  QkvOrder order = QkvOrder::legacy;
};

// Returns the names of our blocks for one place of the network: "enc.64x64_block0".
std::string block_name(const nets::UNetConfig& config,
                       const char* half,
                       int64_t level,
                       const std::string& block);

// Returns whether the blocks of the level attend.
bool attends(const nets::UNetConfig& config, int64_t level);

// Returns a checkpoint of ours with their tensors, in their types. A tensor that is missing, of
// another shape than the configuration says, or that no layer has is an Error with its own name.
Safetensors renamed_unet(const std::map<std::string, Tensor>& theirs,
                         const ModelConfig& config,
                         const ForeignLayout& layout);

}  // namespace eps
