// Hostile .safetensors files.
#include "eps/io/safetensors.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(safetensors) { parse_safetensors(bytes, "safetensors"); }
