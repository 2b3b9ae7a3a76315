// Parallel MRI and channel mixtures.
#include <gtest/gtest.h>

#include "eps/io/array.h"
#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "tests/files.h"

namespace eps {
namespace {

// One coil of sensitivity 1 and a real image: the single-coil operator, channel by channel.
TEST(Sense, OfOneEvenCoilIsTheSubsampledFourierTransform) {
  const Tensor mask = (Rng(1).uniform({1, 6, 5}) < 0.5).to(at::kDouble);
  const Operator A = sense(at::ones({1, 6, 5}, at::kComplexDouble), mask);
  const Tensor real = Rng(2).normal({2, 1, 6, 5}), none = at::zeros_like(real);
  const Tensor wanted = subsampled_fourier(mask)->apply(real);
  EXPECT_TRUE(A->apply(at::cat({real, none}, 1)).allclose(wanted));
  // i x has i times the transform: (a, b) becomes (-b, a).
  const Tensor turned = at::stack({-wanted.select(4, 1), wanted.select(4, 0)}, 4);
  EXPECT_TRUE(A->apply(at::cat({none, real}, 1)).allclose(turned));
}

// With all frequencies F drops out: A'A x = sum_k |s_k|^2 x.
TEST(Sense, WithAllFrequenciesWeighsPixelsByThePowerOfTheCoils) {
  const Tensor maps = at::complex(Rng(1).normal({3, 4, 5}), Rng(2).normal({3, 4, 5}));
  const Operator A = sense(maps, at::ones({1, 4, 5}));
  const Tensor x = Rng(3).normal({2, 2, 4, 5});
  EXPECT_TRUE(A->adjoint(A->apply(x)).allclose(maps.abs().square().sum(0) * x));
}

TEST(Sense, SimulatedCoilsSeeEveryPixelAlike) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 2, 8, 10});
  const Operator A = make_operator("sense:coils=5,acceleration=1", x, rng);
  EXPECT_EQ(A->apply(x).sizes(), at::IntArrayRef({1, 5, 8, 10, 2}));
  EXPECT_TRUE(A->adjoint(A->apply(x)).allclose(x));
}

TEST(Sense, ReadsMapsAndMasks) {
  const Folder folder;
  const Tensor pairs = Rng(1).normal({3, 4, 6, 2});
  const Tensor mask = (Rng(2).uniform({4, 6}) < 0.5).to(at::kDouble);
  write_array(folder.file("maps.npy"), pairs);
  write_array(folder.file("mask.npy"), mask);
  const std::string spec =
      "sense:coils=" + folder.file("maps.npy") + ",mask=" + folder.file("mask.npy");
  Rng rng(1);
  const Tensor x = rng.normal({1, 2, 4, 6});
  const Tensor maps = at::view_as_complex(pairs);
  EXPECT_TRUE(make_operator(spec + ",zero=corner", x, rng)
                  ->apply(x)
                  .allclose(sense(maps, mask.unsqueeze(0))->apply(x)));
  const Tensor shifted = at::roll(mask, {-2, -3}, {0, 1}).unsqueeze(0);
  EXPECT_TRUE(make_operator(spec, x, rng)->apply(x).allclose(sense(maps, shifted)->apply(x)));
  EXPECT_FALSE(is_random(spec));
  EXPECT_EQ(files_of(spec),
            (std::vector<std::string>{folder.file("mask.npy"), folder.file("maps.npy")}));
  EXPECT_TRUE(files_of("sense:coils=4").empty());
  EXPECT_EQ(error_of([&] {
              make_operator(spec, at::empty({1, 2, 4, 5}), rng);
            }),
            folder.file("maps.npy") +
                ": coil maps are K x 4 x 5 complex numbers, or pairs of numbers (K x H x W x 2); "
                "got 3 x 4 x 6 x 2");
}

TEST(Mix, MultipliesTheChannelsOfEachPixel) {
  const Folder folder;
  const Tensor matrix = Rng(1).normal({2, 3});
  write_array(folder.file("M.npy"), matrix);
  const std::string spec = "mix:file=" + folder.file("M.npy");
  Rng rng(1);
  const Tensor x = rng.normal({2, 3, 4, 5});
  const Operator A = make_operator(spec, x, rng);
  EXPECT_TRUE(A->apply(x).allclose(at::matmul(matrix, x.flatten(2)).reshape({2, 2, 4, 5})));
  EXPECT_EQ(image_shape_of(spec, {2, 2, 4, 5}), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(error_of([&] {
              make_operator(spec, at::empty({1, 1, 8, 8}), rng);
            }),
            folder.file("M.npy") +
                ": a matrix of C' x 1, the channels of the image, is wanted, got 2 x 3");
}

TEST(Mix, OfTheMeanIsGrey) {
  const Tensor weights = at::full({3}, 1 / 3.0, at::kDouble);
  const Operator mixture = mix(weights.unsqueeze(0)), mean = grey(weights);
  const Tensor x = Rng(1).normal({2, 3, 4, 4}), y = mean->apply(x);
  EXPECT_TRUE(mixture->apply(x).allclose(y));
  EXPECT_TRUE(mixture->ridge(y, scalar(0.1)).allclose(mean->ridge(y, scalar(0.1))));
  EXPECT_TRUE(mixture->format().picture(y).allclose(mean->format().picture(y)));
}

// Two equal rows have rank 1: the pseudo-inverse shares the measurement out.
TEST(Mix, MayBeSingular) {
  const Operator A = mix(at::ones({2, 2}, at::kDouble));
  const Tensor y = at::full({1, 2, 1, 1}, 4.0, at::kDouble);
  EXPECT_TRUE(A->ridge(y, scalar(0)).allclose(at::full_like(y, 2)));
}

}  // namespace
}  // namespace eps
