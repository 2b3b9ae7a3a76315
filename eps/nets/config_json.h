// The U-Net's configuration as JSON values.
#pragma once

#include "eps/base/json_fields.h"
#include "eps/nets/config.h"

namespace eps::nets {

// Returns an object with the fields of UNetConfig.
Json unet_json(const UNetConfig& config);
// Reads and checks the fields of UNetConfig, and refuses any other field that is left (see
// parse_unet_config()).
UNetConfig read_unet_config(JsonFields& fields);

}  // namespace eps::nets
