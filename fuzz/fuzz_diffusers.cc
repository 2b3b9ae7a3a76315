// Hostile configurations of diffusers: one text as the network's and as the scheduler's.
#include "eps/io/torch/diffusers_folder.h"
#include "eps/model/config.h"
#include "eps/model/foreign/diffusers.h"
#include "eps/model/foreign/diffusers_config.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(diffusers) {
  const std::string text(bytes);
  try {
    const Spec nothing = Spec::parse("diffusers").resolve(diffusers_fields());
    const ModelConfig model{
        .network = diffusers_unet(text, nothing),
        .preconditioning = diffusers_process({{}, {{kDiffusersScheduler, text}}}, nothing)};
    parse_model_config(to_json(model));
  } catch (const Error& error) {
    fail("diffusers: ", error.what());
  }
}
