// Networks of other programs, by family.
#include "eps/model/foreign/families.h"

#include <algorithm>
#include <filesystem>

#include "eps/io/torch/any_checkpoint.h"
#include "eps/model/foreign/diffusers.h"
#include "eps/model/foreign/guided_diffusion.h"
#include "eps/model/scripted/torchscript.h"

namespace eps {
namespace {

// Returns the family of a spec's name, or null.
const NetworkFamily* family_named(const std::string& name) {
  const auto& all = network_families();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const NetworkFamily& family) { return family.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Safetensors read_spec(const std::string& text) {
  Spec spec = Spec::parse(text);
  const NetworkFamily& family = *family_named(spec.name());
  std::vector<Field> fields = family.fields;
  fields.insert(fields.begin(), {"file", "", "the network"});
  spec = spec.resolve(fields);
  check(spec.has("file"), text, ": which file? ", spec.name(), ":file=FILE is wanted");
  const Safetensors file = read_any_checkpoint(spec.text("file"));
  check(family.recognises(file), spec.text("file"), ": is not ", family.summary);
  return family.read(file, spec);
}

}  // namespace

const std::vector<NetworkFamily>& network_families() {
  static const std::vector<NetworkFamily> all = {
      {"guided_diffusion",
       "a state dict of guided-diffusion (input_blocks.*)",
       is_guided_diffusion,
       guided_diffusion_fields(),
       from_guided_diffusion},
      {"diffusers",
       "a UNet2DModel of diffusers (a folder with config.json and its weights)",
       is_diffusers,
       diffusers_fields(),
       from_diffusers}};
  return all;
}

const NetworkFamily* family_of(const Safetensors& file) {
  for (const NetworkFamily& family : network_families())
    if (family.recognises(file)) return &family;
  return nullptr;
}

Safetensors as_checkpoint(const Safetensors& file) {
  const NetworkFamily* family = family_of(file);
  return family == nullptr ? file
                           : family->read(file, Spec::parse(family->name).resolve(family->fields));
}

bool is_network_spec(const std::string& text) {
  if (is_scripted_spec(text)) return true;
  const size_t colon = text.find(':');
  std::error_code ignored;
  return colon != std::string::npos && family_named(text.substr(0, colon)) != nullptr &&
         !std::filesystem::exists(text, ignored);
}

void check_family_of_spec(const std::string& text) {
  const size_t end = text.find(":file=");
  if (end == std::string::npos) return;
  std::vector<std::string> names = {"torchscript"};
  for (const NetworkFamily& family : network_families()) names.push_back(family.name);
  const std::string name = text.substr(0, end);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UnknownName("model", name, names);
}

Safetensors read_network(const std::string& text) {
  check(!is_scripted_spec(text),
        text,
        ": TorchScript is run as it is, and neither converted nor trained");
  if (!is_network_spec(text)) {
    const Safetensors file = read_any_checkpoint(text);
    if (family_of(file) == nullptr) return file;
    try {
      return as_checkpoint(file);
    } catch (const Error& error) {
      fail(text, ": ", error.what());
    }
  }
  try {
    return read_spec(text);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(text)) throw;
    fail(text, ": ", message);
  }
}

std::string known_networks() {
  std::string words = "a checkpoint of eps or EDM (model.*)";
  for (const NetworkFamily& family : network_families()) words += ", " + family.summary;
  return words + ", TorchScript as torchscript:file=FILE,size=SIDE";
}

}  // namespace eps
