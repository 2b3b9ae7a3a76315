// A picture with a noise level of its own in every pixel.
#include "eps/io/array.h"
#include "eps/restore/measurement.h"
#include "tests/files.h"

namespace eps {
namespace {

// The picture is x + sigma_y n / w; the problem is y = w x + sigma_y n. A hole may hold anything.
TEST(SoftMeasurement, IsWeighedAsItIsRead) {
  const Folder folder;
  const Tensor weights = at::tensor({1.0, 0.5, 0.25, 0.0}, at::kDouble).reshape({2, 2});
  Tensor picture = Rng(1).normal({3, 2, 2}) / 4;
  picture.select(2, 1).select(1, 1).fill_(NAN);
  write_array(folder.file("w.npy"), weights);
  write_array(folder.file("x.npy"), picture);
  const OperatorChoice chosen =
      choose_operator({.spec = "soft_mask:file=" + folder.file("w.npy")}, 2);
  const NetworkShape network{.name = "net", .resolution = 2, .channels = 3};
  const Problem problem = read_measurement(folder.file("x.npy"), chosen, network).problem;
  const Tensor wanted = (weights * picture.nan_to_num(0)).unsqueeze(0);
  EXPECT_TRUE(problem.y.allclose(wanted));
  EXPECT_EQ(problem.measurements().item<double>(), 9);
  const Measurement in_memory = measurement_of(picture, "x", chosen, network);
  EXPECT_TRUE(in_memory.problem.y.equal(problem.y));
}

// A program that made y by the operator itself has w x + sigma_y n already.
TEST(SoftMeasurement, IsTakenAsItIsFromAProgram) {
  const Folder folder;
  write_array(folder.file("w.npy"), at::full({2, 2}, 0.5, at::kDouble));
  const Tensor y = Rng(1).normal({3, 2, 2}) / 4;
  OperatorChoice chosen = choose_operator({.spec = "soft_mask:file=" + folder.file("w.npy")}, 2);
  chosen.is_given = true;
  const NetworkShape network{.name = "net", .resolution = 2, .channels = 3};
  EXPECT_TRUE(measurement_of(y, "y", chosen, network).problem.y[0].equal(y));
}

// Bytes of a bright picture lie in [0, 1] after 2 b / 255 - 1, and no question is open.
TEST(MeasurementInMemory, HasTheRangeOfItsBytes) {
  const Tensor bytes = at::arange(128, 256).repeat({24}).reshape({3, 32, 32}).to(at::kByte);
  const OperatorChoice chosen = choose_operator({.denoise = true}, 32);
  const NetworkShape network{.name = "net", .resolution = 32, .channels = 3};
  const Tensor values = bytes.to(at::kDouble) / 127.5 - 1;
  EXPECT_TRUE(measurement_of(bytes, "y", chosen, network).warnings.empty());
  EXPECT_EQ(measurement_of(values, "y", chosen, network).warnings.size(), 1);
}

TEST(MeasurementInMemory, TakesMasksAndKernelsInMemoryAsFromFiles) {
  const Folder folder;
  Rng rng(2);
  const Tensor mask = (rng.uniform({8, 8}) < 0.5).to(at::kDouble), kernel = rng.uniform({3, 3});
  write_array(folder.file("mask.npy"), mask);
  write_array(folder.file("kernel.npy"), kernel);
  const Tensor x = rng.normal({1, 3, 8, 8});
  const auto of = [&](const OperatorOptions& options) {
    return choose_operator(options, 8).draw(x, rng)->apply(x);
  };
  EXPECT_TRUE(of({.mask = "mask", .mask_values = mask.to(at::kBool)})
                  .equal(of({.mask = folder.file("mask.npy")})));
  EXPECT_TRUE(of({.kernel = "kernel", .flip_kernel = true, .kernel_values = kernel})
                  .equal(of({.kernel = folder.file("kernel.npy"), .flip_kernel = true})));
  EXPECT_THROW(of({.mask = "mask", .mask_values = mask * 255}), Error);
}

}  // namespace
}  // namespace eps
