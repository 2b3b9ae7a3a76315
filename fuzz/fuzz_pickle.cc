// Hostile pickles, as data and as JSON.
#include "eps/io/torch/pickle.h"
#include "eps/io/torch/pickle_json.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(pickle) {
  const Pickle pickle = parse_pickle(bytes, "pickle");
  const auto converted = PickleJson().convert(pickle.root);
  if (converted) converted->dump();  // throws, were any text not UTF-8
}
