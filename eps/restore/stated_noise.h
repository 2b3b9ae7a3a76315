// Words for the noise of a measurement, as people state it.
#pragma once

#include "eps/restore/noise_model.h"

namespace eps {

// Returns the number in `text`, a part of the value `whole` of an option; others are an Error.
double parse_positive(const std::string& text,
                      const std::string& whole,
                      const std::string& option,
                      const std::string& wanted);

// Returns noise levels in units of [-1, 1] of "6.4", in grey levels of 8 bits, or of "sigma=0.05";
// several, separated by commas, are those of channels. `option` begins messages.
std::vector<double> parse_noise_levels(const std::string& text, const std::string& option);

}  // namespace eps
