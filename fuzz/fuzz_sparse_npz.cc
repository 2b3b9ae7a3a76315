// Hostile sparse matrices.
#include "eps/io/sparse_npz.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(sparse_npz) { parse_sparse_npz(bytes, "sparse_npz"); }
