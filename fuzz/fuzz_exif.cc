// Hostile EXIF records, and what is kept of those that are read.
#include "eps/io/images/exif.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(exif) {
  const auto exif = parse_exif(bytes);
  check(exif.has_value(), "exif: no record");
  const auto again = parse_exif(exif->upright);
  if (!again || again->orientation != 1 || again->upright != exif->upright)
    throw std::logic_error("a record of upright pixels is not one");
}
