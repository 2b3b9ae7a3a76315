// TorchScript modules as opaque networks.
//
// A TorchScript archive is a program. Nothing that eps reads is run, but for this: a spec
// "torchscript:file=net.pt,size=64" states that the code in the file is to be run.
#pragma once

#include "eps/base/spec.h"
#include "eps/model/checkpoint.h"

namespace eps {

// Returns whether the text has the form of such a spec and is not the name of a file.
bool is_scripted_spec(const std::string& text);

// Returns the fields of the spec: what an archive does not tell.
std::vector<Field> scripted_fields();

// Loads the module and its code. The network calls forward(x, sigma) for E[x0 | x = x0 + sigma n],
// or with input=step forward(x_t, t) of a process in steps for what it predicts; x (N, C, H, W),
// and sigma or t (N), all float32. With classes the third argument has their one-hot rows (N,
// classes), zeros for none. The answer has the channels of x, or more, which are dropped. What the
// module throws is an Error that names the file.
Checkpoint scripted_network(const std::string& text);

}  // namespace eps
