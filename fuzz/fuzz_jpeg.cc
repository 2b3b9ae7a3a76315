// Hostile JPEG files.
#include "eps/io/images/image.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(jpeg) { parse_image(bytes, "jpeg"); }
