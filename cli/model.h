// Options and loading of a network, for the verbs that run one: device, arithmetic, checkpoint.
#pragma once

#include <CLI/CLI.hpp>

#include "eps/model/checkpoint.h"

namespace eps::cli {

struct ModelOptions {
  std::string path;  // a file, or a name of eps list models
  std::string device = "auto";
  std::string dtype = "auto";
};

// Adds the network under the name `name` (MODEL, --model), --device and --dtype.
void add_model_options(CLI::App& verb, ModelOptions& options, const std::string& name = "MODEL");
// Adds --device and --dtype alone.
void add_device_options(CLI::App& verb, ModelOptions& options);

// Names the network for photographs in options that name none.
void name_network(ModelOptions& options, bool large_on_cpu = false);

// Loads a checkpoint of any format that eps convert reads to the device in the dtype of the
// options. The dtype auto is the arithmetic that the checkpoint was made for on a GPU, and float32
// on a CPU.
Checkpoint load_any_model(const ModelOptions& options);
// Prints one line for each warning to stderr.
void print_warnings(const std::vector<std::string>& warnings);
// Loads a network, and refuses one for another input than `wanted`; `asker` names the user of the
// network in the message. A network that would be a poor prior of its own is warned of.
Checkpoint load_model(const ModelOptions& options,
                      const NetworkInput& wanted = NetworkInput::prior,
                      const std::string& asker = "this verb");

// Returns the labels "3", "0,5,2" or "labels.npy" as one-hot (N, label_dim) for `count` images; one
// label serves all. Where the text is empty, `others` gives class numbers (N) or rows (N,
// label_dim). The labels are undefined for a network without labels, for which a text is an Error.
Tensor labels_for(const std::string& text,
                  const Checkpoint& model,
                  int64_t count,
                  const std::function<Tensor()>& others = {});

}  // namespace eps::cli
