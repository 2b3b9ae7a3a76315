// Hostile .npy files.
#include "eps/io/npy.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(npy) { parse_npy(bytes, "npy"); }
