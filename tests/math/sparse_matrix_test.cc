// Sparse matrices against dense ones.
#include "eps/math/sparse_matrix.h"

#include <ATen/Parallel.h>

#include "eps/base/random.h"
#include "tests/files.h"

namespace eps {
namespace {

struct Pair {
  SparseMatrix sparse;
  Tensor dense;
};

// A matrix of 1000 entries, some in one place, with empty rows and columns.
Pair random_pair() {
  const int64_t rows = 150, columns = 40;
  Rng rng(1);
  const Tensor row = (rng.uniform({1000}) * 100).to(at::kLong) + 10;
  const Tensor column = (rng.uniform({1000}) * 30).to(at::kLong);
  const Tensor value = rng.normal({1000});
  const Tensor dense = at::zeros({rows * columns}, at::kDouble)
                           .index_add(0, row * columns + column, value)
                           .reshape({rows, columns});
  return {{rows, columns, row, column, value}, dense};
}

TEST(SparseMatrix, MultipliesAsTheDenseMatrixAndItsTranspose) {
  const auto [sparse, dense] = random_pair();
  const Tensor x = Rng(2).normal({7, 40}), y = Rng(3).normal({7, 150});
  EXPECT_TRUE(sparse.times(x).allclose(at::matmul(x, dense.t()), 1e-12, 1e-12));
  EXPECT_TRUE(sparse.transposed().times(y).allclose(at::matmul(y, dense), 1e-12, 1e-12));
  EXPECT_TRUE(sparse.absolute().scaled(2).times(x).allclose(
      2 * at::matmul(x, dense.abs().t()), 1e-12, 1e-12));
  const Tensor rounded = sparse.times(x.to(at::kFloat));
  EXPECT_EQ(rounded.scalar_type(), at::kFloat);
  EXPECT_TRUE(rounded.to(at::kDouble).allclose(at::matmul(x, dense.t()), 1e-4, 1e-4));
  EXPECT_EQ(sparse.times(x.to(at::kBFloat16)).scalar_type(), at::kBFloat16);
}

TEST(SparseMatrix, DoesNotDependOnTheNumberOfThreads) {
  const SparseMatrix matrix = random_pair().sparse;
  const Tensor x = Rng(2).normal({7, 40});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Tensor alone = matrix.times(x);
  at::set_num_threads(3);
  EXPECT_TRUE(identical(alone, matrix.times(x)));
  at::set_num_threads(threads);
}

TEST(SparseMatrix, MayBeEmpty) {
  const Tensor none = at::zeros({0}, at::kLong);
  const SparseMatrix matrix(3, 2, none, none, at::zeros({0}, at::kDouble));
  EXPECT_TRUE(matrix.times(at::ones({1, 2}, at::kDouble)).equal(at::zeros({1, 3}, at::kDouble)));
}

TEST(SparseMatrix, RefusesVectorsOfAnotherLength) {
  EXPECT_EQ(error_of([] {
              random_pair().sparse.times(at::zeros({2, 41}));
            }),
            "a sparse matrix of 40 columns cannot multiply 2 x 41");
}

}  // namespace
}  // namespace eps
