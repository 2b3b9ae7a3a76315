// An operator of the user's own, with only apply and adjoint, restored by the network that comes
// with eps.
#include <gtest/gtest.h>

#include "eps/io/images/image.h"
#include "eps/restore/restore.h"

namespace eps {
namespace {

// A scene behind ribbed glass: the mean of each pixel and the one three columns to the right, and
// of every second row only.
class Ribs final : public LinearOperator {
 public:
  Tensor apply(const Tensor& x) const override { return rows(x + x.roll(-3, 3)) / 2; }
  Tensor adjoint(const Tensor& y) const override {
    const Tensor x = at::zeros({y.size(0), y.size(1), 2 * y.size(2), y.size(3)}, y.options());
    rows(x).copy_(y);
    return (x + x.roll(3, 3)) / 2;
  }

 private:
  static Tensor rows(const Tensor& x) { return x.slice(2, 0, x.size(2), 2); }
};

TEST(UserOperator, NeedsOnlyApplyAndAdjoint) {
  const Checkpoint network = read_checkpoint(EPS_SOURCE_DIR "/models/faces64-eps.safetensors");
  const Tensor face =
      from_uint8(read_image(EPS_SOURCE_DIR "/models/faces64-images/06.png")).to(at::kDouble);
  Rng rng(3);
  const Tensor truth = face.unsqueeze(0);
  const Measurement measurement{
      .problem = observe(std::make_shared<Ribs>(), truth, scalar(0.05), rng), .truth = truth};
  const OperatorChoice chosen{.name = "ribs", .spec = "ribs"};
  const RestorationResult result = restore_measurement(
      measurement,
      chosen,
      {.sigma_y = 0.05, .network = "faces64-eps", .steps = 8, .options = {.samples = 2}},
      network);
  EXPECT_GT(result.report.chi2, 0.8);
  EXPECT_LT(result.report.chi2, 1.25);
  // The mean of two samples is far nearer than the measurement's own picture.
  const Tensor picture = measurement.problem.A->format().picture(measurement.problem.y);
  const auto error = [&](const Tensor& image) { return (image - face).norm().item<double>(); };
  EXPECT_LT(error(result.restoration.mean), 0.3 * error(picture[0]));
}

}  // namespace
}  // namespace eps
