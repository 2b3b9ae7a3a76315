// The networks and images that come with eps, by name.
//
// They are in a folder `models`: the one that EPS_MODELS names, one beside the library or the
// program or above them (a source tree), or share/eps/models of an installation; the first that has
// the name is taken.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A file that exists, as it is; "faces64-eps": the file faces64-eps.safetensors of a models folder.
// Anything else is an Error that names the networks there are.
std::string find_model(const std::string& name);

// All networks that find_model() knows by name, sorted.
std::vector<std::string> model_names();

// Anything else in a models folder, such as the folder "faces64-images"; Error if there is none.
std::string find_in_models(const std::string& relative);

// Where all of them are looked for, in this order; not every folder need be there.
std::vector<std::string> model_folders();

}  // namespace eps
