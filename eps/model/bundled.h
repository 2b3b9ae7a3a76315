// The networks and images that come with eps, by name.
//
// Each lies in a folder `models`: the folder that EPS_MODELS names, one beside the library or the
// program or above them (a source tree), or share/eps/models of an installation. The first folder
// that has the name counts.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the path of a network: the name itself if there is such a file or folder of diffusers or
// if it is the spec of a network (eps/model/foreign/families.h), and for "faces64-eps" the file
// faces64-eps.safetensors of a models folder. Other names are an Error that lists the networks
// there are.
std::string find_model(const std::string& name);

// Returns the name of the network for photographs of any size where none is named: photos-eps on a
// GPU, and where `large_on_cpu`, as for one evaluation and for holes, in whose samples the small
// one leaves specks; photos-eps-small for other samples on a CPU, where the large one takes
// several times as long, and where the large one is not installed.
std::string photos_network(at::Device device, bool large_on_cpu = false);

// Returns the names of all networks in the models folders, sorted.
std::vector<std::string> model_names();

// Returns the path of another file or folder in a models folder, such as "faces64-images". Throws
// an Error if there is none.
std::string find_in_models(const std::string& relative);

// Returns the models folders in the order of the search; a folder need not exist.
std::vector<std::string> model_folders();

}  // namespace eps
