// Hostile PNG files, with and without their alpha.
#include "eps/io/images/image.h"
#include "eps/io/images/image_codecs.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(png) {
  parse_image(bytes, "png");
  if (bytes.starts_with(eps::kPngSignature)) eps::decode_png_alpha(bytes, "png");
}
