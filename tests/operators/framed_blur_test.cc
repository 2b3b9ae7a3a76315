// Valid blurs of large frames against dense matrices, on frames small enough for these.
#include "eps/operators/framed_blur.h"

#include <gtest/gtest.h>

#include "eps/operators/masked_blur.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

// A kernel that reaches differently far on each side, and is not separable.
Tensor skew(int64_t height, int64_t width) {
  return (Rng(7).uniform({1, height, width}) + 0.1) / (0.6 * static_cast<double>(height * width));
}

struct Case {
  Case(const Tensor& kernel, int64_t height, int64_t width)
      : blur(kernel, height, width),
        inside{kernel.size(1) - 1 - kernel.size(1) / 2,
               kernel.size(2) - 1 - kernel.size(2) / 2,
               height - kernel.size(1) + 1,
               width - kernel.size(2) + 1},
        framed(blur, inside),
        masked(blur, framed.format().measured(at::ones({1, 1, height, width}, at::kDouble))) {}

  CircularBlur blur;
  FramedBlur::Inside inside;
  FramedBlur framed;
  MaskedBlur masked;
};

std::vector<std::pair<Tensor, Shape>> cases() {
  return {{skew(4, 5), {24, 31}}, {skew(1, 6), {20, 26}}, {skew(5, 1), {22, 17}}};
}

// The image of C u is the wanted one on the border, and u is 0 elsewhere.
TEST(Bands, SolveForTheImageOnTheBorder) {
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{12, 15}, {9, 16}})
    for (const auto& [top, left] : {std::pair<int64_t, int64_t>{1, 2}, {0, 2}, {3, 0}})
      for (const auto type : {at::kDouble, at::kFloat}) {
        const Bands bands(circle_outside(height, top, height - 2 * top, at::kCPU),
                          circle_outside(width, left, width - 2 * left, at::kCPU),
                          height,
                          width);
        Tensor border = at::ones({height, width}, at::kDouble);
        border.narrow(0, top, height - 2 * top).narrow(1, left, width - 2 * left).zero_();
        const Shape frame{height, width};
        const auto image = [&](const Tensor& hat) {
          return at::fft_irfft2(hat, at::IntArrayRef(frame)).to(at::kDouble);
        };
        const Tensor power =
            CircularBlur(skew(3, 4), height, width).power(border.reshape({1, 1, height, width}));
        const Tensor symbol = 0.1 / (power + 0.1);
        const Tensor wanted = Rng(1).normal({2, 3, height, width});
        const Tensor spectrum = at::fft_rfft2(wanted).to(at::toComplexType(type));
        const Bands::Solved found =
            bands.solve(symbol.to(type), bands.inverses(symbol), spectrum, {.tolerance = 1e-5});
        const Tensor u = image(found.spectrum / symbol);
        EXPECT_LT((u * (1 - border)).abs().max().item<double>(),
                  type == at::kDouble ? 1e-13 : 1e-5);
        EXPECT_LT(relative_error(image(found.spectrum) * border, wanted * border), 1e-4);
      }
}

TEST(FramedBlur, MeasuresAsAMaskedBlurDoes) {
  for (const auto& [kernel, frame] : cases()) {
    const Case c(kernel, frame[0], frame[1]);
    const Tensor x = Rng(1).normal({2, 3, frame[0], frame[1]});
    EXPECT_LT(relative_error(c.framed.apply(x), c.masked.apply(x)), 1e-12);
    EXPECT_LT(relative_error(c.framed.adjoint(x), c.masked.adjoint(x)), 1e-12);
  }
}

// The error of a pivot in the norm of its own precision, against the root of its dimension; also
// where each image has its own noise level.
TEST(FramedBlur, PivotsAreExactToAThousandthOfTheirNoise) {
  for (const auto& [kernel, frame] : cases()) {
    const Case c(kernel, frame[0], frame[1]);
    for (const double sigma_y : {0.3, 0.05, 0.01})
      for (const double sigma : {80.0, 5.0, 0.5, 0.05}) {
        Rng rng(2);
        const Tensor x0 = rng.normal({2, 3, frame[0], frame[1]});
        const Tensor y = c.framed.apply(x0 + 0) +
                         sigma_y * c.framed.format().measured(rng.normal(x0.sizes().vec()));
        const Tensor z = x0 + sigma * rng.normal(x0.sizes().vec());
        const Tensor own = at::tensor({1.0, 1.7}, at::kDouble).reshape({2, 1, 1, 1});
        const Tensor lambda = (own * (sigma_y / sigma)).square();
        const Tensor found = c.framed.proximal(z, y, lambda);
        const Tensor wanted = c.masked.proximal(z, y, lambda);
        const Tensor e = found - wanted;
        const Tensor weighted = c.masked.adjoint(c.masked.apply(e)) + lambda * e;
        const double energy = (e * weighted / own.square()).sum().item<double>() /
                              (sigma_y * sigma_y * static_cast<double>(e.numel()));
        EXPECT_LT(std::sqrt(energy), FramedBlur::kError) << sigma << " " << sigma_y;
        EXPECT_LT(c.framed.iterations(), 60) << sigma << " " << sigma_y;
      }
  }
}

TEST(FramedBlur, FunctionsAreNearThoseOfTheMatrix) {
  for (const auto& [kernel, frame] : cases()) {
    const Case c(kernel, frame[0], frame[1]);
    const Tensor x = Rng(1).normal({1, 3, frame[0], frame[1]});
    for (const double v : {1e4, 1.0, 1e-2}) {
      const EigenvalueMap skip = [&](const Tensor& e) {
        const Tensor variance = 1 / (1 / v + e / 0.0025);
        return 0.25 / (variance + 0.25);
      };
      const Tensor found = c.framed.functions().filter(x, skip);
      const Tensor wanted = c.masked.functions().filter(x, skip);
      EXPECT_LT(relative_error(found, wanted), 0.01) << v << " " << to_string(frame);
    }
    EXPECT_LT(relative_error(c.framed.functions().normal_diagonal(x),
                             c.masked.functions().normal_diagonal(x)),
              1e-12);
  }
}

// The mean eigenvalue of a function of each image, against its exact mean: the trace of the dense
// operator's. A probe z of random signs finds the trace of the matrix M by which the border changes
// the function as z'Mz, whose variance is twice the sum of its squares off the diagonal.
TEST(FramedBlur, MeansAreThoseOfTheMatrix) {
  const auto [kernel, frame] = cases().front();
  const Case c(kernel, frame[0], frame[1]);
  const int64_t pixels = frame[0] * frame[1];
  const Tensor units = at::eye(pixels, at::kDouble).reshape({pixels, 1, frame[0], frame[1]});
  const Tensor own = at::tensor({1e4, 1.0, 1e-2}, at::kDouble).reshape({3, 1, 1, 1});
  const auto skip = [](const Tensor& e, const Tensor& v) {
    const Tensor variance = 1 / (1 / v + e / 0.0025);
    return 0.25 / (variance + 0.25);
  };
  const Tensor found =
      c.framed.functions().mean_eigenvalue(at::zeros({3, 3, frame[0], frame[1]}, at::kDouble),
                                           [&](const Tensor& e) { return skip(e, own); });
  EXPECT_EQ(found.sizes(), own.sizes());
  for (int64_t i = 0; i < 3; ++i) {
    const auto filter = [&](const Spectral& functions) {
      return functions.filter(units, [&](const Tensor& e) { return skip(e, own[i]); })
          .reshape({pixels, pixels});
    };
    const Tensor exact = filter(c.masked.functions());
    const Tensor change = exact - filter(c.blur.functions());
    const double off_diagonal = (change - at::diag(at::diag(change))).square().sum().item<double>();
    const double deviation = std::sqrt(2 * off_diagonal / 3) / static_cast<double>(pixels);
    const double wanted = at::diag(exact).mean().item<double>();
    EXPECT_NEAR(found[i].item<double>(), wanted, 4 * deviation + 3e-3 * wanted) << i;
    EXPECT_LT(4 * deviation, 0.05 * wanted) << i;
  }
}

TEST(FramedBlur, RidgeIsTheDenseOne) {
  for (const auto& [kernel, frame] : cases()) {
    const Case c(kernel, frame[0], frame[1]);
    const Tensor y = c.framed.apply(Rng(1).normal({2, 3, frame[0], frame[1]}));
    for (const double lambda : {1e-6, 1e-2, 1e2})
      EXPECT_LT(
          relative_error(c.framed.ridge(y, scalar(lambda)), c.masked.ridge(y, scalar(lambda))),
          1e-8)
          << lambda << " " << to_string(frame);
  }
}

// The operator of a spec on a frame whose border has too many pixels for a dense matrix: against
// conjugate gradients, and with the power of data for its functions.
TEST(FramedBlur, ServesTheBlursOfLargeFrames) {
  Rng rng(3);
  const Shape frame{1, 3, 236, 250};
  const Tensor like = at::zeros(frame, at::kDouble);
  const Operator A = make_operator("blur_motion:length=9,angle=30,border=valid", like, rng);
  EXPECT_EQ(A->spectral(), nullptr);
  EXPECT_TRUE(A->closed_form());
  const Tensor y = A->apply(rng.normal(frame)), z = rng.normal(frame);
  const Tensor lambda = scalar(0.01);
  const Tensor wanted =
      conjugate_gradients([&](const Tensor& u) { return A->adjoint(A->apply(u)) + lambda * u; },
                          A->adjoint(y) + lambda * z,
                          {.tolerance = 1e-10});
  EXPECT_LT(relative_error(A->ridge(y - A->apply(z), lambda) + z, wanted), 1e-7);
  EXPECT_LT(relative_error(A->proximal(z, y, lambda), wanted), 1e-2);
  // Its pivots are the framed blur's, which stop at a thousandth of their noise, and not ridge()'s.
  const Tensor kernel = A->format().parameters().at("kernel");
  const Case same(kernel, frame[2], frame[3]);
  EXPECT_LT(relative_error(A->proximal(z, y, lambda),
                           same.framed.proximal(z, A->format().picture(y), lambda)),
            1e-12);
  const EigenvalueMap power = A->functions().prior_power(at::ones({236, 126}, at::kDouble), like);
  const Tensor e = at::tensor({1e-3, 0.1, 1.0}, at::kDouble).reshape({1, 1, 1, 3});
  // Of white data it is 1 in every direction.
  EXPECT_LT((power(e) - 1).abs().max().item<double>(), 0.1);
}

// With one band there are no corners.
TEST(FramedBlur, FunctionsAreExactOnOneBand) {
  const Case c(skew(1, 6), 20, 26);
  const Tensor x = Rng(1).normal({1, 3, 20, 26});
  const EigenvalueMap f = [](const Tensor& e) { return 1 / (0.01 + e); };
  EXPECT_LT(relative_error(c.framed.functions().filter(x, f), c.masked.functions().filter(x, f)),
            1e-2);
}

}  // namespace
}  // namespace eps
