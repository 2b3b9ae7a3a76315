// Hostile ZIP archives, every entry read.
#include "eps/io/zip.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(zip) {
  for (const ZipEntry& entry : eps::read_zip(bytes, "zip")) entry_content(entry, "zip");
}
