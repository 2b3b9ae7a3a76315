// What verbs that run a network share: which device, which arithmetic, and the network itself.
#pragma once

#include <CLI/CLI.hpp>

#include "eps/diffusion/denoiser.h"
#include "eps/model/checkpoint.h"

namespace eps::cli {

struct ModelOptions {
  std::string path;  // or the name of a network that comes with eps
  std::string device = "auto";
  std::string dtype = "auto";
};

// The network under this name (MODEL, --model), --device and --dtype.
void add_model_options(CLI::App& verb, ModelOptions& options, const std::string& name = "MODEL");
// --device and --dtype alone.
void add_device_options(CLI::App& verb, ModelOptions& options);

// The network on its device in its dtype; any format that eps convert reads. The dtype auto is what
// the checkpoint was made for on a GPU, and float32 on a CPU.
Checkpoint load_any_model(const ModelOptions& options);
// A network for another input is an Error; `asker` is what wants it.
Checkpoint load_model(const ModelOptions& options,
                      const NetworkInput& wanted = NetworkInput::prior,
                      const std::string& asker = "this verb");

// "3", "0,5,2" or "labels.npy" as one-hot (N, label_dim) for `count` images, one label serving all.
// Where the text is empty, `others` gives class numbers (N) or rows (N, label_dim). Undefined for a
// network that takes none, for which a text is an Error.
Tensor labels_for(const std::string& text,
                  const Checkpoint& model,
                  int64_t count,
                  const std::function<Tensor()>& others = {});

// E[x0 | x, sigma] of the network, as a sampler asks for it.
Mean network_mean(const Checkpoint& model,
                  const Tensor& labels,
                  const std::function<void()>& on_call);

}  // namespace eps::cli
