// Sizes that heads of hostile pictures claim.
#include "eps/io/images/picture_size.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(picture_size) {
  const auto size = stored_picture_size(bytes);
  check(size.has_value(), "picture_size: the head has none");
  if (size->first < 0 || size->second < 0) throw std::logic_error("a size below 0");
}
