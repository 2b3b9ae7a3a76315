// JSON of a checkpoint's configuration and provenance.
#include "eps/model/config.h"

#include <algorithm>

#include "eps/base/json_fields.h"
#include "eps/base/printable.h"
#include "eps/base/spec.h"
#include "eps/nets/config_json.h"
#include "eps/nets/plan.h"

namespace eps {
namespace {

using Kind = Preconditioning::Kind;

const std::map<std::string, Kind> kClasses = {{"EDMPrecond", Kind::edm},
                                              {"VPPrecond", Kind::vp},
                                              {"VEPrecond", Kind::ve},
                                              {"iDDPMPrecond", Kind::iddpm},
                                              {"DiscretePrecond", Kind::discrete},
                                              {"DenoiserPrecond", Kind::denoiser},
                                              {"AnisotropicPrecond", Kind::anisotropic}};

using Words = std::vector<std::string>;
constexpr int64_t kMostSteps = 100000;

// Returns whether the range of noise levels is stated, and does not follow from other fields.
bool has_own_range(Kind kind) {
  return kind == Kind::edm || kind == Kind::ve || kind == Kind::denoiser ||
         kind == Kind::anisotropic;
}

// Calls visit(name, member) for the fields of this kind of preconditioning.
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
  if (!has_own_range(p.kind)) visit("M", p.M);
  if (p.kind != Kind::discrete) return;
  visit("prediction", p.prediction);
  visit("beta_schedule", p.beta_schedule);
  if (p.beta_schedule == "linear" || p.beta_schedule == "scaled_linear") {
    visit("beta_start", p.beta_start);
    visit("beta_end", p.beta_end);
  }
  if (p.beta_schedule == "table") visit("betas", p.betas);
  visit("label_scale", p.label_scale);
}

void check_discrete(const Preconditioning& p) {
  const auto check_word = [](const char* field, const std::string& value, const Words& allowed) {
    check(std::find(allowed.begin(), allowed.end(), value) != allowed.end(),
          "model config: ",
          field,
          " must be ",
          alternatives(allowed),
          "; got \"",
          printable(value),
          "\"");
  };
  check_word("prediction", p.prediction, {"epsilon", "v", "sample"});
  check_word("beta_schedule", p.beta_schedule, {"linear", "scaled_linear", "cosine", "table"});
  check(p.M <= kMostSteps, "model config: M must be at most ", kMostSteps, ", got ", p.M);
  check(p.beta_start > 0 && p.beta_start <= p.beta_end && p.beta_end < 1,
        "model config: 0 < beta_start <= beta_end < 1 is wanted, got ",
        p.beta_start,
        " and ",
        p.beta_end);
  if (p.beta_schedule == "table") {
    check(std::ssize(p.betas) == p.M,
          "model config: ",
          p.M,
          " betas are wanted, got ",
          p.betas.size());
    for (const double beta : p.betas)
      check(beta > 0 && beta < 1, "model config: betas must be in (0, 1), got ", beta);
  }
  check(p.label_scale > 0, "model config: label_scale must be > 0, got ", p.label_scale);
}

const std::string kWhere = "model config";
const char* const kRadius = "receptive_radius";  // follows from the other fields

// Returns the fields of the object, with those of its init_kwargs among them.
Json flat_fields(const std::string& text) {
  Json json = parse_json(text, kWhere);
  const bool nested = JsonFields(json, kWhere).has("init_kwargs");
  const Json keywords = nested ? json["init_kwargs"] : Json::object();
  const JsonFields checked(keywords, kWhere + ": init_kwargs");
  json.erase("init_kwargs");
  json.update(keywords);
  return json;
}

// Reads the class without the module of its definition: "training.networks.EDMPrecond".
Kind read_kind(JsonFields& fields) {
  std::string name = "EDMPrecond";
  fields.optional("class_name", name);
  const auto found = kClasses.find(name.substr(name.rfind('.') + 1));
  check(found != kClasses.end(),
        "model config: class_name must be EDMPrecond, VPPrecond, VEPrecond, iDDPMPrecond, "
        "DiscretePrecond, DenoiserPrecond or AnisotropicPrecond; got \"",
        printable(name),
        "\"");
  return found->second;
}

Preconditioning read_preconditioning(JsonFields& fields) {
  Preconditioning p{.kind = read_kind(fields)};
  for_each_field(p, [&](const char* name, auto& value) { fields.optional(name, value); });
  if (p.kind == Kind::anisotropic) fields.optional("prior_mean", p.prior_mean);
  check(p.M >= 2, "model config: M must be at least 2, got ", p.M);
  if (p.kind == Kind::discrete) check_discrete(p);
  const auto& source = p.prior_variance;
  check(source == "constant" || source == "spectrum" || source == "geometric_mean",
        "model config: prior_variance must be constant, spectrum or geometric_mean; got \"",
        printable(source),
        "\"");
  check(p.prior_mean == "zero" || p.prior_mean == "neighbours",
        "model config: prior_mean must be zero or neighbours; got \"",
        printable(p.prior_mean),
        "\"");
  check(p.sigma_data > 0, "model config: sigma_data must be > 0, got ", p.sigma_data);
  // VP and iDDPM modules carry their range too, but it follows from the other fields.
  for (const auto& [name, bound] :
       {std::pair{"sigma_min", &p.sigma_lower}, std::pair{"sigma_max", &p.sigma_upper}}) {
    if (!fields.has(name)) continue;
    const auto value = fields.get<double>(name);
    if (has_own_range(p.kind)) *bound = value;
  }
  return p;
}

at::ScalarType read_arithmetic(JsonFields& fields) {
  bool half = false, bfloat = false;
  fields.optional("use_fp16", half);
  fields.optional("use_bf16", bfloat);
  check(!half || !bfloat, "model config: use_fp16 and use_bf16 exclude each other");
  return half ? at::kHalf : bfloat ? at::kBFloat16 : at::kFloat;
}

NetworkInput read_input(JsonFields& fields, Kind kind) {
  std::string name = "prior";
  bool show_skip = false, scale_side = false;
  fields.optional("input", name);
  fields.optional("show_skip", show_skip);
  fields.optional("scale_side", scale_side);
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
  if (p.prior_mean != "zero") json["prior_mean"] = p.prior_mean;
  if (has_own_range(p.kind) && p.sigma_lower) json["sigma_min"] = *p.sigma_lower;
  if (has_own_range(p.kind) && p.sigma_upper) json["sigma_max"] = *p.sigma_upper;
  // A skip at the end has a field of its own, so that the other channels keep their preset's name.
  const NetworkInput& input = config.input;
  const bool show_skip = !input.side.empty() && input.side.back() == Channel::skip;
  if (input.scale_side) json["scale_side"] = true;
  if (show_skip) json["show_skip"] = true;
  json["use_fp16"] = config.gpu_arithmetic == at::kHalf;
  if (config.gpu_arithmetic == at::kBFloat16) json["use_bf16"] = true;
  json["input"] = to_string(show_skip ? input.without(Channel::skip) : input);
  json.update(nets::unet_json(config.network));
  if (const auto radius = nets::UNetPlan(config.network).receptive_radius())
    json[kRadius] = *radius;
  return json_text(json);
}

ModelConfig parse_model_config(const std::string& text) {
  const Json json = flat_fields(text);
  JsonFields fields(json, kWhere);
  ModelConfig config;
  config.preconditioning = read_preconditioning(fields);
  config.gpu_arithmetic = read_arithmetic(fields);
  config.input = read_input(fields, config.preconditioning.kind);
  std::optional<int64_t> radius;
  if (fields.has(kRadius)) radius = fields.get<int64_t>(kRadius);
  config.network = nets::read_unet_config(fields);
  // EDM builds networks for iDDPM with a second half of outputs for the variance.
  if (config.preconditioning.kind == Kind::iddpm && !fields.has("out_channels"))
    config.network.out_channels = 2 * config.network.img_channels;
  check(!radius || radius == nets::UNetPlan(config.network).receptive_radius(),
        "model config: ",
        kRadius,
        "=",
        radius.value_or(0),
        " is not that of the network described");
  return config;
}

std::string to_json(const Provenance& provenance) {
  return json_text({{"data", provenance.data},
                    {"images_seen", provenance.images_seen},
                    {"tasks", provenance.tasks},
                    {"sigma_y", provenance.sigma_y}});
}

Provenance parse_provenance(const std::string& text) {
  const Json json = parse_json(text, "provenance");
  JsonFields fields(json, "provenance");
  Provenance provenance;
  fields.optional("data", provenance.data);
  fields.optional("images_seen", provenance.images_seen);
  fields.optional("tasks", provenance.tasks);
  fields.optional("sigma_y", provenance.sigma_y);
  fields.finish();
  return provenance;
}

}  // namespace eps
