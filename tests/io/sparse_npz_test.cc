// SciPy's sparse matrices. The files in tests/fixtures are what SciPy 1.17 wrote:
//
//   d = numpy.array([[0, 2, 0, -3], [0, 0, 0, 0], [0.25, 0, 7, 0]])
//   sparse_csr  csr_matrix(d), compressed, int32 indices
//   sparse_csc  csc_matrix(d.astype(float32)), not compressed, int64 indices
//   sparse_coo  coo_matrix of int16, compressed: 1, 7, -3, 1 at (0, 1), (2, 2), (0, 3), (0, 1)
#include "eps/io/sparse_npz.h"

#include "tests/files.h"

namespace eps {
namespace {

Tensor dense(const std::string& name) {
  const SparseEntries m = read_sparse_npz(EPS_SOURCE_DIR "/tests/fixtures/" + name);
  Tensor matrix = at::zeros({m.rows, m.columns}, at::kDouble);
  for (int64_t i = 0; i < m.value.numel(); ++i)
    matrix[m.row[i].item<int64_t>()][m.column[i].item<int64_t>()] += m.value[i];
  return matrix;
}

TEST(SparseNpz, ReadsWhatSciPyWrites) {
  const Tensor wanted =
      at::tensor({0., 2., 0., -3., 0., 0., 0., 0., 0.25, 0., 7., 0.}, at::kDouble).reshape({3, 4});
  EXPECT_TRUE(dense("sparse_csr.npz").equal(wanted));
  EXPECT_TRUE(dense("sparse_csc.npz").equal(wanted));
  Tensor integers = wanted.clone();
  integers[2][0] = 0;
  EXPECT_TRUE(dense("sparse_coo.npz").equal(integers));  // two entries of one place add up
}

TEST(SparseNpz, SaysWhatIsWrong) {
  const auto refusal = [](const std::string& seed) {
    const std::string bytes = get_bytes(EPS_SOURCE_DIR "/fuzz/corpus/sparse_npz/" + seed);
    return error_of([&] { parse_sparse_npz(bytes, "A.npz"); });
  };
  EXPECT_EQ(refusal("index_behind"), "A.npz: a column index of 3 in a matrix of 3");
  EXPECT_EQ(refusal("row_behind"), "A.npz: a row index of 2 in a matrix of 2");
  EXPECT_EQ(refusal("bsr"),
            "A.npz: a sparse matrix in the format 'bsr'; csr, csc and coo are read");
  EXPECT_EQ(refusal("pointers_falling"),
            "A.npz: indptr must rise from 0 to the number of entries, 2");
  EXPECT_EQ(refusal("rows_shorter"), "A.npz: 2 values, but 1 row and 2 column indices");
  EXPECT_EQ(refusal("shape_of_terabytes"),
            "A.npz: a matrix of 1099511627776 x 3; sides from 1 to 134217728 are read");
  EXPECT_EQ(refusal("data_missing"),
            "A.npz: holds no data.npy, so it is no sparse matrix of scipy.sparse.save_npz");
  EXPECT_EQ(refusal("index_real"), "A.npz: indices must hold integers, found float");
}

}  // namespace
}  // namespace eps
