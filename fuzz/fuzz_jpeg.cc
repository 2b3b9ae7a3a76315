// Hostile JPEG files.
#include "eps/io/images/picture.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(jpeg) { parse_picture(bytes, "jpeg"); }
