// The fields of methods that step by DDIM: how much of the noise is fresh, and in which convention.
#pragma once

#include "eps/diffusion/sampler.h"
#include "eps/methods/descent.h"

namespace eps {

// eta and convention, with these defaults.
inline std::vector<Field> ddim_fields(const char* eta, const char* convention) {
  return {{"eta", eta, "fresh noise of the DDIM step, from 0 to 1"},
          {"convention", convention, "what eta means: ancestral (eta = 1 is DDPM) or renoise"}};
}

inline DdimConvention ddim_convention(const Spec& options) {
  const std::string name = options.text("convention");
  if (name == "ancestral") return DdimConvention::ancestral;
  check(name == "renoise",
        options.name(),
        ": convention=",
        name,
        " is neither ancestral nor renoise");
  return DdimConvention::renoise;
}

}  // namespace eps
