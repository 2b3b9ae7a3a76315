// The operator contract over every registered operator, and what each kind of operator is known to
// do.
#include <gtest/gtest.h>

#include <numbers>

#include "eps/io/array.h"
#include "eps/math/conjugate_gradients.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "eps/verify/contract.h"
#include "tests/files.h"

namespace eps {
namespace {

const std::vector<Shape> kImages = {{1, 1, 8, 8}, {2, 3, 8, 16}, {3, 1, 16, 8}};

// A spec for every registered operator, those that need a file included, and some combinations.
std::vector<std::string> contract_specs(const Folder& folder, const Shape& image) {
  Rng rng(11);
  const int64_t height = image[2], width = image[3];
  write_array(folder.file("mask.npy"), (rng.uniform({height, width}) < 0.5).to(at::kDouble));
  write_array(folder.file("kernel.npy"), rng.uniform({4, 5}) / 10);
  std::vector<std::string> specs;
  for (const auto& [name, entry] : operators()) {
    if (!entry.example.empty())
      specs.push_back(entry.example);
    else
      specs.push_back(name +
                      ":file=" + folder.file(name == "blur_kernel" ? "kernel.npy" : "mask.npy"));
  }
  specs.push_back("blur_motion:length=3..7,step=2,angle=0..180");
  specs.push_back("inpaint_box:height=25%..50%,width=25%..50%,position=random,margin=6.25%");
  specs.push_back("blur_gaussian:std=0.5..1,size=5 | super_resolution:factor=2");
  specs.push_back("blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5");
  specs.push_back("super_resolution:factor=4 + grey + inpaint_random:missing=0.9");
  return specs;
}

class Contract : public testing::TestWithParam<Shape> {
 protected:
  // Calls check_one(operator) for every spec, drawn for images of this shape.
  template <class CheckOne>
  void for_every_operator(const CheckOne& check_one) {
    const Folder folder;
    for (const auto& spec : contract_specs(folder, GetParam())) {
      SCOPED_TRACE(spec);
      Rng rng(5, GetParam()[0]);
      check_one(make_operator(spec, at::empty(GetParam(), at::kDouble), rng), rng);
    }
  }
};

TEST_P(Contract, AdjointIsTheTranspose) {
  for_every_operator(
      [&](const Operator& A, Rng& rng) { EXPECT_LT(adjoint_error(*A, GetParam(), rng), 1e-10); });
}

TEST_P(Contract, RidgeSolvesTheNormalEquations) {
  for_every_operator([&](const Operator& A, Rng& rng) {
    for (const double lambda : {1e-6, 1e-2, 1e2})
      EXPECT_LT(ridge_residual(*A, GetParam(), lambda, rng), 1e-9) << "lambda " << lambda;
  });
}

TEST_P(Contract, RidgeEqualsConjugateGradients) {
  for_every_operator([&](const Operator& A, Rng& rng) {
    for (const double lambda : {1e-6, 1e-2, 1e2})
      EXPECT_LT(ridge_against_cg(*A, GetParam(), lambda, rng), 1e-6) << "lambda " << lambda;
  });
}

TEST_P(Contract, FilterIsAFunctionOfTheNormalOperator) {
  for_every_operator(
      [&](const Operator& A, Rng& rng) { EXPECT_LT(filter_error(*A, GetParam(), rng), 1e-10); });
}

TEST_P(Contract, PivotSolvesEquation12) {
  for_every_operator([&](const Operator& A, Rng& rng) {
    for (const double sigma : {0.002, 1.0, 80.0})
      EXPECT_LT(pivot_residual(A, GetParam(), sigma, rng), 1e-8) << "sigma " << sigma;
  });
}

TEST_P(Contract, Float32PivotIsClose) {
  for_every_operator([&](const Operator& A, Rng& rng) {
    for (const double sigma : {0.002, 1.0, 80.0})
      EXPECT_LT(float32_pivot_error(A, GetParam(), sigma, rng), 2e-3) << "sigma " << sigma;
  });
}

TEST_P(Contract, PseudoInverseIsOneOnTheRange) {
  for_every_operator([&](const Operator& A, Rng& rng) {
    const Tensor y = A->apply(rng.normal(GetParam()));
    const Tensor again = A->apply(A->ridge(y, scalar(0)));
    EXPECT_LT(((again - y).norm() / y.norm()).item<double>(), 1e-7);
  });
}

// Image n of a batch gets what it would get alone: same draw, same pivot.
TEST_P(Contract, BatchEqualsLoop) {
  const Folder folder;
  const Shape image = GetParam();
  for (const auto& spec : contract_specs(folder, image)) {
    SCOPED_TRACE(spec);
    Rng rng(5, image[0]);
    const Operator A = make_operator(spec, at::empty(image, at::kDouble), rng);
    const Problem problem = observe(A, rng.normal(image), scalar(0.05), rng);
    const Tensor x_t = rng.normal(image);
    const Tensor together = pivot(problem, x_t, edm().at(scalar(2)));
    for (int64_t n = 0; n < image[0]; ++n) {
      Rng own(5, std::vector<uint64_t>{static_cast<uint64_t>(n)});
      const Operator alone =
          make_operator(spec, at::empty({1, image[1], image[2], image[3]}, at::kDouble), own);
      const Problem single{alone, problem.y.slice(0, n, n + 1), problem.sigma_y};
      const Tensor mu = pivot(single, x_t.slice(0, n, n + 1), edm().at(scalar(2)));
      EXPECT_LT((mu - together.slice(0, n, n + 1)).abs().max().item<double>(), 1e-8);
    }
  }
}

// lambda and sigma_y may differ from image to image.
TEST_P(Contract, PerSampleLambdaActsPerSample) {
  const int64_t n = GetParam()[0];
  for_every_operator([&](const Operator& A, Rng& rng) {
    const Tensor r = A->apply(rng.normal(GetParam()));
    const Tensor lambda = (at::arange(n, at::kDouble) + 1).reshape({n, 1, 1, 1}) * 0.1;
    const Tensor together = A->ridge(r, lambda);
    for (int64_t i = 0; i < n; ++i) {
      const Tensor one = A->ridge(r, scalar(0.1 * static_cast<double>(i + 1)));
      EXPECT_LT((one[i] - together[i]).abs().max().item<double>(), 1e-8);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Images, Contract, testing::ValuesIn(kImages), [](const auto& info) {
  std::string name = to_string(info.param);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

Tensor ramp(const Shape& shape) {
  return at::arange(c10::multiply_integers(shape), at::kDouble).reshape(shape);
}

TEST(Inpainting, RandomMasksMissTheStatedFraction) {
  Rng rng(1, 4);
  const Operator A = make_operator("inpaint_random:missing=0.7", at::empty({4, 3, 64, 64}), rng);
  const Tensor mask = A->format().parameters().at("mask");
  EXPECT_EQ(mask.sizes(), at::IntArrayRef({4, 64, 64}));
  // n = 16384 Bernoulli pixels: 5 standard errors.
  EXPECT_NEAR(mask.mean().item<double>(), 0.3, 5 * std::sqrt(0.21 / 16384));
  EXPECT_FALSE(mask[0].equal(mask[1]));
}

TEST(Inpainting, TrainingDrawsVaryTheFractionByImage) {
  Rng rng(1, 200);
  const Operator A =
      make_operator(find_task("random_inpainting").train, at::empty({200, 1, 32, 32}), rng);
  const Tensor missing = 1 - A->format().parameters().at("mask").mean({1, 2});
  EXPECT_GT(missing.min().item<double>(), 0.5 - 5 * std::sqrt(0.25 / 1024));
  EXPECT_LT(missing.max().item<double>(), 0.7 + 5 * std::sqrt(0.25 / 1024));
  EXPECT_NEAR(
      missing.mean().item<double>(), 0.6, 5 * std::sqrt(0.04 / 12 / 200 + 0.25 / 1024 / 200));
}

TEST(Inpainting, BoxesLieWhereTheyAreSaidTo) {
  Rng rng(1);
  const Operator A =
      make_operator("inpaint_box:height=2,width=3,top=1,left=4", at::empty({1, 1, 8, 8}), rng);
  const Tensor hole = 1 - A->format().parameters().at("mask")[0];
  EXPECT_EQ(hole.sum().item<double>(), 6);
  EXPECT_EQ(hole.slice(0, 1, 3).slice(1, 4, 7).sum().item<double>(), 6);
  const Operator centred =
      make_operator("inpaint_box:height=4,width=2", at::empty({1, 1, 8, 8}), rng);
  EXPECT_EQ((1 - centred->format().parameters().at("mask")[0])
                .slice(0, 2, 6)
                .slice(1, 3, 5)
                .sum()
                .item<double>(),
            8);
}

TEST(Inpainting, TrainingBoxesKeepTheirMargins) {
  Rng rng(1, 500);
  const Operator A =
      make_operator(find_task("box_inpainting").train, at::empty({500, 1, 64, 64}), rng);
  const Tensor hole = 1 - A->format().parameters().at("mask");
  EXPECT_EQ(hole.slice(1, 0, 4).sum().item<double>() + hole.slice(1, 60).sum().item<double>(), 0);
  EXPECT_EQ(hole.slice(2, 0, 4).sum().item<double>() + hole.slice(2, 60).sum().item<double>(), 0);
  const Tensor height = hole.amax(2).sum(1);
  EXPECT_EQ(height.min().item<double>(), 16);
  EXPECT_EQ(height.max().item<double>(), 32);
}

TEST(Pooling, AveragesBlocks) {
  const Tensor y = average_pool(2)->apply(ramp({1, 1, 2, 4}));
  EXPECT_TRUE(y.equal(at::tensor({2.5, 4.5}, at::kDouble).reshape({1, 1, 1, 2})));
  EXPECT_TRUE(average_pool(2)->ridge(y, scalar(0)).equal(average_pool(2)->format().picture(y)));
}

// A true convolution with the origin at index size/2, by the sum that defines it.
// One pixel is left, and its picture shares memory: x = z + (y - mean(z)) / (1 + s^2 lambda).
TEST(Pooling, OfTheWholeImageHasAProximalStep) {
  Rng rng(3);
  const Tensor z = rng.normal({2, 3, 8, 8}), y = rng.normal({2, 3, 1, 1});
  const Tensor lambda = at::tensor({0.5, 2.0}, at::kDouble).view({2, 1, 1, 1});
  const Tensor expected = z + (y - z.mean({2, 3}, true)) / (1 + 64 * lambda);
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const Tensor x = average_pool(8)->proximal(z.to(dtype), y.to(dtype), lambda);
    EXPECT_TRUE(at::allclose(x.to(at::kDouble), expected, 0, dtype == at::kBFloat16 ? 0.1 : 1e-5));
  }
}

TEST(Blur, IsTheCircularConvolutionWithItsOriginAtHalfTheSize) {
  for (const Shape& size : {Shape{3, 3}, Shape{4, 5}, Shape{2, 1}}) {
    const Tensor kernel = Rng(2).uniform({1, size[0], size[1]});
    const Tensor x = Rng(3).normal({1, 1, 6, 7});
    const Tensor y = circular_blur(kernel, 6, 7)->apply(x);
    Tensor wanted = at::zeros_like(x);
    for (int64_t r = 0; r < size[0]; ++r)
      for (int64_t c = 0; c < size[1]; ++c)
        wanted += kernel[0][r][c] * at::roll(x, {r - size[0] / 2, c - size[1] / 2}, {2, 3});
    EXPECT_LT((y - wanted).abs().max().item<double>(), 1e-12);
  }
}

TEST(Blur, GaussianKernelIsTheOneOfThePaper) {
  const Tensor kernel = gaussian_kernel(0.75, 11);
  EXPECT_NEAR(kernel.sum().item<double>(), 1, 1e-15);
  EXPECT_NEAR((kernel[5][6] / kernel[5][5]).item<double>(), std::exp(-0.5 / 0.5625), 1e-15);
  // Its transfer function at (pi, pi), the smallest, by Poisson summation: the two nearest aliases
  // in each direction give (2 exp(-pi^2 std^2 / 2))^2.
  const Tensor sign = 1 - 2 * at::remainder(at::arange(11, at::kDouble), 2);
  const double wanted = 4 * std::exp(-std::pow(std::numbers::pi * 0.75, 2));
  EXPECT_NEAR((kernel * at::outer(sign, sign)).sum().item<double>(), wanted, 1e-4 * wanted);
}

TEST(Blur, MotionKernelsAreLines) {
  const Tensor level = motion_kernel(5, 0);
  EXPECT_TRUE(level[2].allclose(at::full({5}, 0.2, at::kDouble)));
  EXPECT_NEAR(level.sum().item<double>(), 1, 1e-15);
  EXPECT_TRUE(motion_kernel(5, 90).allclose(level.t(), 1e-12, 1e-12));
  // Counter-clockwise: at 45 degrees the mass runs from bottom left to top right.
  const Tensor rising = motion_kernel(7, 45);
  EXPECT_GT(rising[2][4].item<double>(), 0.1);
  EXPECT_EQ(rising[2][2].item<double>(), 0);
  EXPECT_TRUE(motion_kernel(7, 225).allclose(rising, 1e-12, 1e-12));
}

TEST(Blur, TrainingDrawsUseTheFiveLengths) {
  Rng rng(1, 300);
  const Operator A =
      make_operator(find_task("motion_deblurring").train, at::empty({300, 1, 16, 16}), rng);
  const Tensor kernel = A->format().parameters().at("kernel");
  EXPECT_EQ(kernel.sizes(), at::IntArrayRef({300, 15, 15}));
  // L points one pixel apart have variance (L^2 - 1)/12 along the line; bilinear spreading adds a
  // little, never enough to reach the next odd L.
  const Tensor offset = at::arange(15, at::kDouble) - 7;
  const Tensor variance = (kernel * (offset.square() + offset.square().unsqueeze(1))).sum({1, 2});
  const Tensor length = 2 * ((12 * variance + 1).sqrt() / 2 - 0.5).round() + 1;
  EXPECT_TRUE(std::get<0>(at::_unique2(length))
                  .equal(at::tensor({7.0, 9.0, 11.0, 13.0, 15.0}, at::kDouble)));
}

TEST(Grey, TakesTheMeanOrLuma) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 3, 2, 2});
  EXPECT_TRUE(make_operator("grey", x, rng)->apply(x).allclose(x.mean(1, true)));
  const Tensor luma = 0.299 * x.select(1, 0) + 0.587 * x.select(1, 1) + 0.114 * x.select(1, 2);
  EXPECT_TRUE(make_operator("grey:weights=luma", x, rng)->apply(x).allclose(luma.unsqueeze(1)));
}

TEST(Fourier, KeepsTheCentralLinesAndTheStatedNumber) {
  Rng rng(1, 3);
  const Operator A =
      make_operator("fourier_lines:acceleration=4,center=0.125", at::empty({3, 1, 8, 32}), rng);
  const Tensor mask = A->format().parameters().at("mask");
  EXPECT_TRUE(mask.sum({1, 2}).eq(8 * 8).all().item<bool>());
  const Tensor central = at::cat({mask.slice(2, 0, 2), mask.slice(2, 31)}, 2);
  EXPECT_TRUE(central.eq(1).all().item<bool>());
}

TEST(Fourier, MeasuresTheUnitaryTransform) {
  const Tensor x = Rng(1).normal({1, 2, 6, 5});
  const Operator A = subsampled_fourier(at::ones({1, 6, 5}));
  EXPECT_NEAR(A->apply(x).norm().item<double>(), x.norm().item<double>(), 1e-12);
  EXPECT_NEAR(A->apply(at::ones_like(x))[0][0][0][0][0].item<double>(), std::sqrt(30.0), 1e-12);
}

TEST(Hadamard, IsTheOrthonormalTransform) {
  const Tensor ones = at::ones({1, 4, 8}, at::kDouble);
  const Operator A = subsampled_hadamard(ones, ones);
  const Tensor matrix =
      matrix_of([&](const Tensor& v) { return A->apply(v); }, {1, 1, 4, 8}, 1, at::kDouble)[0];
  EXPECT_TRUE(at::matmul(matrix, matrix).allclose(at::eye(32, at::kDouble)));
  EXPECT_TRUE(matrix.abs().allclose(at::full({32, 32}, 1 / std::sqrt(32.0), at::kDouble)));
}

TEST(Matrix, IsWhatTheFileHolds) {
  const Folder folder;
  Rng rng(1);
  const Tensor matrix = rng.normal({5, 12});
  write_array(folder.file("A.npy"), matrix);
  const Tensor x = rng.normal({2, 3, 2, 2});
  const Operator A = make_operator("matrix:file=" + (folder.file("A.npy")), x, rng);
  EXPECT_TRUE(A->apply(x).allclose(at::matmul(x.flatten(1), matrix.t())));
}

TEST(Compose, AppliesInOrderAndBlurThenPoolHasAClosedForm) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 3, 8, 8});
  const Operator chain =
      make_operator("blur_motion:length=3 | super_resolution:factor=2 | grey", x, rng);
  const Tensor wanted = average_pool(2)
                            ->apply(circular_blur(motion_kernel(3, 0).unsqueeze(0), 8, 8)->apply(x))
                            .mean(1, true);
  EXPECT_TRUE(chain->apply(x).allclose(wanted));
  EXPECT_TRUE(
      make_operator("blur_motion:length=3 | super_resolution:factor=2", x, rng)->spectral());
}

TEST(Stack, ConcatenatesMeasurements) {
  Rng rng(1);
  const Tensor x = rng.normal({2, 3, 8, 8});
  const Operator both = make_operator("super_resolution:factor=4 + grey", x, rng);
  EXPECT_TRUE(both->apply(x).equal(at::cat(
      {at::avg_pool2d(x, 4).flatten(1), make_operator("grey", x, rng)->apply(x).flatten(1)}, 1)));
}

TEST(ConjugateGradients, StopsPerSampleAndSaysHowFarItIs) {
  const Tensor diagonal = at::tensor({1.0, 2.0, 3.0, 1e8}, at::kDouble);
  const auto apply = [&](const Tensor& u) { return u * diagonal; };
  const Tensor b = Rng(1).normal({3, 4});
  const Tensor together = conjugate_gradients(apply, b);
  EXPECT_TRUE(together.allclose(b / diagonal));
  for (int64_t n = 0; n < 3; ++n)
    EXPECT_TRUE(
        conjugate_gradients(apply, b.slice(0, n, n + 1)).equal(together.slice(0, n, n + 1)));
  try {
    conjugate_gradients(apply, b, {.tolerance = 1e-10, .max_iterations = 2});
    FAIL() << "two iterations cannot be enough";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("after 2 iterations, wanted 1e-10"), std::string::npos)
        << error.what();
  }
}

// One system is zero, one is solved in a step: neither disturbs the third, nor becomes NaN.
TEST(ConjugateGradients, FinishedSystemsStayFinite) {
  const Tensor diagonal = at::tensor({1.0, 2.0, 3.0, 50.0}, at::kDouble);
  const Tensor b = at::stack({at::zeros({4}, at::kDouble),
                              diagonal * at::tensor({0.0, 1.0, 0.0, 0.0}, at::kDouble),
                              Rng(1).normal({4})});
  EXPECT_TRUE(
      conjugate_gradients([&](const Tensor& u) { return u * diagonal; }, b).allclose(b / diagonal));
}

// A residual that is no number is a failure, at once and by name, not an answer.
TEST(ConjugateGradients, RefusesToAnswerNaN) {
  const Tensor b = at::stack({Rng(1).normal({4}), at::full({4}, NAN, at::kDouble)});
  for (const Tensor& system : {b, b.slice(0, 1, 2)}) {
    try {
      conjugate_gradients([](const Tensor& u) { return 2 * u; }, system);
      ADD_FAILURE() << "NaN was taken for an answer";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("|r|/|b| = nan"), std::string::npos) << error.what();
    }
  }
}

TEST(ConjugateGradients, AnswersZeroToZero) {
  EXPECT_TRUE(conjugate_gradients([](const Tensor& u) { return u; }, at::zeros({2, 3}, at::kDouble))
                  .eq(0)
                  .all()
                  .item<bool>());
}

TEST(Observe, AddsNoiseOnlyWhereSomethingIsMeasured) {
  Rng rng(1);
  const Operator A =
      inpainting(at::cat({at::zeros({1, 1, 50, 100}), at::ones({1, 1, 50, 100})}, 2));
  const Problem problem = observe(A, at::zeros({1, 1, 100, 100}, at::kDouble), scalar(0.05), rng);
  EXPECT_EQ(problem.y.slice(2, 0, 50).abs().max().item<double>(), 0);
  // 5000 numbers: 5 standard errors of a variance.
  EXPECT_NEAR(problem.y.slice(2, 50).square().mean().item<double>(),
              0.0025,
              0.0025 * 5 * std::sqrt(2.0 / 5000));
}

}  // namespace
}  // namespace eps
