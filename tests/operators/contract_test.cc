// The operator contract over every registered operator.
#include "eps/verify/contract.h"

#include <gtest/gtest.h>

#include "eps/io/array.h"
#include "eps/operators/registry.h"
#include "tests/files.h"

namespace eps {
namespace {

const std::vector<Shape> kImages = {{1, 1, 8, 8}, {2, 3, 8, 16}, {3, 1, 16, 8}};

// A spec for every registered operator, those that need a file included, and some combinations.
std::vector<std::string> contract_specs(const Folder& folder, const Shape& image) {
  Rng rng(11);
  const int64_t height = image[2], width = image[3];
  const Tensor mask = (rng.uniform({height, width}) < 0.5).to(at::kDouble);
  write_array(folder.file("inpaint_mask.npy"), mask);
  write_array(folder.file("fourier_mask.npy"), mask);
  write_array(folder.file("blur_kernel.npy"), rng.uniform({4, 5}) / 10);
  write_array(folder.file("mix.npy"), rng.normal({2, image[1]}));
  write_array(folder.file("soft_mask.npy"), rng.uniform({height, width}) * mask);
  std::vector<std::string> specs = {"soft_mask:file=" + folder.file("soft_mask.npy")};
  for (const auto& [name, entry] : operators())
    specs.push_back(entry.example.empty() ? name + ":file=" + folder.file(name + ".npy")
                                          : entry.example);
  specs.push_back("blur_motion:length=3..7,step=2,angle=0..180");
  for (const char* border : {"valid", "reflect", "reflect101", "replicate", "zero"}) {
    specs.push_back(std::string("blur_gaussian:std=0.5..1,size=5,border=") + border);
    specs.push_back(std::string("blur_motion:length=5,angle=30,border=") + border);
  }
  specs.push_back("downscale:factor=1.5,filter=lanczos,antialias=0");
  specs.push_back("inpaint_box:height=25%..50%,width=25%..50%,position=random,margin=6.25%");
  specs.push_back("blur_gaussian:std=0.5..1,size=5 | super_resolution:factor=2");
  specs.push_back("blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5");
  specs.push_back("super_resolution:factor=4 + grey + inpaint_random:missing=0.9");
  return specs;
}

class Contract : public testing::TestWithParam<Shape> {
 protected:
  // Returns the shape with the number of channels that the spec takes.
  static Shape image_for(const std::string& spec) {
    const Shape image = GetParam();
    return {image[0], channels_of(spec, image[1]), image[2], image[3]};
  }

  // Calls check_one(operator, image, rng) for every spec, drawn for images of this shape.
  template <class CheckOne>
  void for_every_operator(const CheckOne& check_one) {
    const Folder folder;
    for (const auto& spec : contract_specs(folder, GetParam())) {
      SCOPED_TRACE(spec);
      const Shape image = image_for(spec);
      Rng rng(5, image[0]);
      check_one(make_operator(spec, at::empty(image, at::kDouble), rng), image, rng);
    }
  }
};

TEST_P(Contract, AdjointIsTheTranspose) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    EXPECT_LT(adjoint_error(*A, image, rng), 1e-10);
  });
}

TEST_P(Contract, RidgeSolvesTheNormalEquations) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    for (const double lambda : {1e-6, 1e-2, 1e2})
      EXPECT_LT(ridge_residual(*A, image, lambda, rng), 1e-9) << "lambda " << lambda;
  });
}

TEST_P(Contract, RidgeEqualsConjugateGradients) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    for (const double lambda : {1e-6, 1e-2, 1e2})
      EXPECT_LT(ridge_against_cg(*A, image, lambda, rng), 1e-6) << "lambda " << lambda;
  });
}

TEST_P(Contract, FilterIsAFunctionOfTheNormalOperator) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    EXPECT_LT(filter_error(*A, image, rng), A->spectral() ? 1e-10 : 5e-3);
  });
}

TEST_P(Contract, PivotSolvesEquation12) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    for (const double sigma : {0.002, 1.0, 80.0})
      EXPECT_LT(pivot_residual(A, image, sigma, rng), 1e-8) << "sigma " << sigma;
  });
}

TEST_P(Contract, Float32PivotIsClose) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    for (const double sigma : {0.002, 1.0, 80.0})
      EXPECT_LT(float32_pivot_error(A, image, sigma, rng), 2e-3) << "sigma " << sigma;
  });
}

TEST_P(Contract, PseudoInverseIsOneOnTheRange) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    const Tensor y = A->apply(rng.normal(image));
    const Tensor again = A->apply(A->ridge(y, scalar(0)));
    EXPECT_LT(((again - y).norm() / y.norm()).item<double>(), 1e-7);
  });
}

// Image n of a batch gets what it would get alone: same draw, same pivot.
TEST_P(Contract, BatchEqualsLoop) {
  const Folder folder;
  for (const auto& spec : contract_specs(folder, GetParam())) {
    SCOPED_TRACE(spec);
    const Shape image = image_for(spec);
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

// lambda and sigma_y may differ from image to image. Sums of resolvents promise errors below 1e-7.
TEST_P(Contract, PerSampleLambdaActsPerSample) {
  for_every_operator([](const Operator& A, const Shape& image, Rng& rng) {
    const int64_t n = image[0];
    const Tensor r = A->apply(rng.normal(image));
    const Tensor lambda = (at::arange(n, at::kDouble) + 1).reshape({n, 1, 1, 1}) * 0.1;
    const Tensor together = A->ridge(r, lambda);
    for (int64_t i = 0; i < n; ++i) {
      const Tensor one = A->ridge(r, scalar(0.1 * static_cast<double>(i + 1)));
      EXPECT_LT((one[i] - together[i]).abs().max().item<double>(), 1e-7);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Images, Contract, testing::ValuesIn(kImages), [](const auto& info) {
  std::string name = to_string(info.param);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace eps
