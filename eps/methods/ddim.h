// Methods that step by DDIM share two fields: the fresh part of the noise, and its convention.
#pragma once

#include "eps/diffusion/sampler.h"
#include "eps/methods/descent.h"

namespace eps {

// Returns eta and convention, with these defaults.
inline std::vector<Field> ddim_fields(const char* eta, const char* convention) {
  return {Field::real("eta", eta, {0, 1}, "fresh noise of the DDIM step"),
          Field::choice("convention",
                        convention,
                        {"ancestral", "renoise"},
                        "meaning of eta; ancestral: eta = 1 is DDPM")};
}

inline DdimConvention ddim_convention(const Spec& options) {
  return options.text("convention") == "ancestral" ? DdimConvention::ancestral
                                                   : DdimConvention::renoise;
}

}  // namespace eps
