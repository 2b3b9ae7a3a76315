// Hostile PNG files.
#include "eps/io/images/image.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(png) { parse_image(bytes, "png"); }
