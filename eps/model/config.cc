// JSON of a checkpoint's configuration and provenance.
#include "eps/model/config.h"

#include <nlohmann/json.hpp>

namespace eps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Preconditioning::Kind;

const std::map<std::string, Kind> kClasses = {{"EDMPrecond", Kind::edm},
                                              {"VPPrecond", Kind::vp},
                                              {"VEPrecond", Kind::ve},
                                              {"iDDPMPrecond", Kind::iddpm},
                                              {"AnisotropicPrecond", Kind::anisotropic}};

Json parse_object(const std::string& text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  check(json.is_object(), what, ": not a JSON object: ", text.substr(0, 80));
  return json;
}

// Moves the field out of the object, if it is there.
template <class Value>
void take(Json& json, const char* what, const char* name, Value& value) {
  const auto found = json.find(name);
  if (found == json.end()) return;
  try {
    value = found->get<Value>();
  } catch (const Json::exception&) {
    fail(what, ": ", name, " has a value of the wrong type: ", found->dump());
  }
  json.erase(name);
}

// Calls visit(name, member) for the fields that this kind of preconditioning is given.
template <class Target, class Visit>
void for_each_field(Target& p, Visit&& visit) {
  if (p.kind == Kind::edm || p.kind == Kind::anisotropic) visit("sigma_data", p.sigma_data);
  if (p.kind == Kind::anisotropic) visit("prior_variance", p.prior_variance);
  if (p.kind == Kind::vp) {
    visit("beta_d", p.beta_d);
    visit("beta_min", p.beta_min);
    visit("epsilon_t", p.epsilon_t);
  }
  if (p.kind == Kind::iddpm) {
    visit("C_1", p.C_1);
    visit("C_2", p.C_2);
  }
  if (p.kind == Kind::vp || p.kind == Kind::iddpm) visit("M", p.M);
}

bool has_own_range(Kind kind) { return kind != Kind::vp && kind != Kind::iddpm; }

// The class without the module it was defined in: "training.networks.EDMPrecond".
Kind take_kind(Json& json) {
  std::string name = "EDMPrecond";
  take(json, "model config", "class_name", name);
  const auto found = kClasses.find(name.substr(name.rfind('.') + 1));
  check(found != kClasses.end(),
        "model config: class_name must be EDMPrecond, VPPrecond, VEPrecond, iDDPMPrecond or "
        "AnisotropicPrecond; got \"",
        name,
        "\"");
  return found->second;
}

Preconditioning take_preconditioning(Json& json, Kind kind) {
  Preconditioning p{.kind = kind};
  for_each_field(p,
                 [&](const char* name, auto& value) { take(json, "model config", name, value); });
  check(p.M >= 2, "model config: M must be at least 2, got ", p.M);
  const auto& source = p.prior_variance;
  check(source == "constant" || source == "spectrum" || source == "geometric_mean",
        "model config: prior_variance must be constant, spectrum or geometric_mean; got \"",
        source,
        "\"");
  check(p.sigma_data > 0, "model config: sigma_data must be > 0, got ", p.sigma_data);
  // VP and iDDPM modules carry their range too, but theirs follows from the other fields.
  for (const auto& [name, bound] :
       {std::pair{"sigma_min", &p.sigma_lower}, std::pair{"sigma_max", &p.sigma_upper}}) {
    if (!json.contains(name)) continue;
    double value = 0;
    take(json, "model config", name, value);
    if (has_own_range(kind)) *bound = value;
  }
  return p;
}

NetworkInput take_input(Json& json, Kind kind) {
  std::string name = "prior";
  bool show_skip = false, scale_side = false;
  take(json, "model config", "input", name);
  take(json, "model config", "show_skip", show_skip);
  take(json, "model config", "scale_side", scale_side);
  NetworkInput input = parse_input(name);
  if (show_skip) input = input.with(Channel::skip);
  input.scale_side = scale_side;
  check(!input.has(Channel::skip) || kind == Kind::anisotropic,
        "model config: show_skip is for AnisotropicPrecond only");
  return input;
}

}  // namespace

std::string to_json(const ModelConfig& config) {
  const Preconditioning& p = config.preconditioning;
  Json json;
  for (const auto& [name, kind] : kClasses) {
    if (kind == p.kind) json["class_name"] = name;
  }
  for_each_field(p, [&](const char* name, const auto& value) { json[name] = value; });
  if (has_own_range(p.kind) && p.sigma_lower) json["sigma_min"] = *p.sigma_lower;
  if (has_own_range(p.kind) && p.sigma_upper) json["sigma_max"] = *p.sigma_upper;
  // A skip at the end has a field of its own, so that the other channels keep their preset's name.
  const NetworkInput& input = config.input;
  const bool show_skip = !input.side.empty() && input.side.back() == Channel::skip;
  if (input.scale_side) json["scale_side"] = true;
  if (show_skip) json["show_skip"] = true;
  json["use_fp16"] = config.use_fp16;
  json["input"] = to_string(show_skip ? input.without(Channel::skip) : input);
  json.update(Json::parse(to_json(config.network)));
  return json.dump();
}

ModelConfig parse_model_config(const std::string& text) {
  Json fields = parse_object(text, "model config");
  const Kind kind = take_kind(fields);
  Json keywords = Json::object();
  take(fields, "model config", "init_kwargs", keywords);
  check(keywords.is_object(), "model config: init_kwargs is not a JSON object");
  fields.update(keywords);
  ModelConfig config;
  config.preconditioning = take_preconditioning(fields, kind);
  take(fields, "model config", "use_fp16", config.use_fp16);
  config.input = take_input(fields, kind);
  // EDM builds such networks with a second half of outputs for the variance.
  const bool predicts_variance = kind == Kind::iddpm && !fields.contains("out_channels");
  config.network = nets::parse_unet_config(fields.dump());
  if (predicts_variance) config.network.out_channels = 2 * config.network.img_channels;
  return config;
}

std::string to_json(const Provenance& provenance) {
  return Json{{"data", provenance.data},
              {"images_seen", provenance.images_seen},
              {"tasks", provenance.tasks},
              {"sigma_y", provenance.sigma_y}}
      .dump();
}

Provenance parse_provenance(const std::string& text) {
  Json json = parse_object(text, "provenance");
  Provenance provenance;
  take(json, "provenance", "data", provenance.data);
  take(json, "provenance", "images_seen", provenance.images_seen);
  take(json, "provenance", "tasks", provenance.tasks);
  take(json, "provenance", "sigma_y", provenance.sigma_y);
  check(json.empty(), "provenance: unknown field \"", json.empty() ? "" : json.begin().key(), "\"");
  return provenance;
}

}  // namespace eps
