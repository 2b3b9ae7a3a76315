// Networks of other programs, by family: those that are read as checkpoints of ours.
//
// A family is recognised by the names of its tensors. What tensors do not tell has fields, which a
// spec states: "guided_diffusion:file=network.pt,heads=4,schedule=cosine".
#pragma once

#include "eps/base/spec.h"
#include "eps/io/safetensors.h"

namespace eps {

// A `NetworkFamily` reads the networks of another program.
struct NetworkFamily {
  std::string name;     // "guided_diffusion"
  std::string summary;  // what its files are
  std::function<bool(const Safetensors&)> recognises;
  std::vector<Field> fields;  // of a spec, beside the file
  std::function<Safetensors(const Safetensors&, const Spec&)> read;
};
const std::vector<NetworkFamily>& network_families();

// Returns the family of the file, or null for a checkpoint of ours or of EDM's, or anything else.
const NetworkFamily* family_of(const Safetensors& file);

// Returns the file as a checkpoint of ours, by the usual values of its family's fields; a file of
// no family unchanged.
Safetensors as_checkpoint(const Safetensors& file);

// Returns whether the text has the form of a spec of a family, "diffusers:file=folder", or of
// TorchScript, and is not the name of a file.
bool is_network_spec(const std::string& text);

// Refuses "guided_difusion:file=...", the spec of a family that there is not.
void check_family_of_spec(const std::string& text);

// Reads a file of any format, a folder of diffusers, or what a spec names, as a checkpoint of ours
// if it belongs to a family. Errors begin with the text.
Safetensors read_network(const std::string& text);

// Returns the families in words, for messages about files that belong to none.
std::string known_networks();

}  // namespace eps
