// Sparse matrices as operators: from files, on images and on channels.
#include <gtest/gtest.h>

#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "eps/verify/contract.h"
#include "tests/files.h"

namespace eps {
namespace {

const std::string kFile = EPS_SOURCE_DIR "/tests/fixtures/sparse_csr.npz";  // 3 x 4
const Tensor kMatrix =
    at::tensor({0., 2., 0., -3., 0., 0., 0., 0., 0.25, 0., 7., 0.}, at::kDouble).reshape({3, 4});

TEST(SparseOperator, ActsOnTheFlattenedImage) {
  Rng rng(1);
  const Tensor x = rng.normal({5, 4, 1, 1});
  const Operator A = make_operator("matrix:file=" + kFile, x, rng);
  EXPECT_TRUE(A->apply(x).allclose(at::matmul(x.flatten(1), kMatrix.t())));
  const Tensor y = rng.normal({5, 3});
  EXPECT_TRUE(A->adjoint(y).allclose(at::matmul(y, kMatrix).reshape({5, 4, 1, 1})));
}

TEST(SparseOperator, ActsOnEachChannelIfItHasTheColumnsOfOne) {
  Rng rng(1);
  const Tensor x = rng.normal({5, 3, 2, 2});
  const Operator A = make_operator("matrix:file=" + kFile, x, rng);
  EXPECT_TRUE(A->apply(x).allclose(at::matmul(x.flatten(2), kMatrix.t()).flatten(1)));
  EXPECT_EQ(image_shape_of("matrix:file=" + kFile, {5, 9}), (Shape{5, 3, 1, 4}));
  EXPECT_EQ(image_shape_of("matrix:file=" + kFile, {5, 3}), (Shape{5, 1, 1, 4}));
}

TEST(SparseOperator, IsTheDenseMatrix) {
  const Shape image{2, 3, 2, 2};
  Rng rng(1);
  const Tensor whole = at::block_diag({kMatrix, kMatrix, kMatrix}).unsqueeze(0);
  const Operator dense = dense_matrix(whole, image);
  const Operator sparse = make_operator("matrix:file=" + kFile, at::empty(image), rng);
  const Tensor r = rng.normal({2, 9});
  for (const double lambda : {0.0, 0.1})
    EXPECT_TRUE(sparse->ridge(r, scalar(lambda)).allclose(dense->ridge(r, scalar(lambda))));
  EXPECT_LT(adjoint_error(*sparse, image, rng), 1e-14);
}

// Rows 1 and 3 of the first test have the absolute sums 5 and 7.25.
TEST(SparseOperator, ThePictureIsAveragedOverRowsAndColumns) {
  const Tensor y = at::tensor({5.0, 1.0, 7.25}, at::kDouble).reshape({1, 3});
  Rng rng(1);
  const Operator A = make_operator("matrix:file=" + kFile, at::empty({1, 1, 2, 2}), rng);
  const Tensor picture = A->format().picture(y);
  EXPECT_TRUE(picture.flatten().allclose(at::tensor({1.0, 1.0, 1.0, -1.0}, at::kDouble)));
}

TEST(SparseOperator, RefusesImagesOfAnotherSize) {
  Rng rng(1);
  EXPECT_EQ(error_of([&] {
              make_operator("matrix:file=" + kFile, at::empty({1, 3, 8, 8}), rng);
            }),
            "matrix: 4 columns; an image of 3 x 8 x 8 has 192 values, and 64 in a channel");
}

}  // namespace
}  // namespace eps
