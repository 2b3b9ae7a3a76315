// eps sample, as a user calls it, against the library's sampler.
#include "eps/diffusion/sampler.h"
#include "eps/io/npy.h"
#include "eps/model/checkpoint.h"
#include "eps/model/preconditioned_query.h"
#include "tests/program.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

// iDDPM's networks know M noise levels only; 30 of them for a rounding that shows.
TEST(Sample, IddpmsNetworksAreAskedAtTheirOwnNoiseLevels) {
  const c10::NoGradGuard no_gradients;
  nets::UNetConfig config = small_adm();
  config.label_dim = 0;
  const Preconditioning iddpm{.kind = Preconditioning::Kind::iddpm, .M = 30};
  const Checkpoint model{.network = wave_network(config), .preconditioning = iddpm};
  const Tensor latents = waves({2, 3, 8, 8});
  const Folder folder;
  write_checkpoint(folder.file("model.safetensors"), model);
  write_npy(folder.file("latents.npy"), latents);
  // More steps than there are levels: those that round to one level are one step.
  const Outcome outcome = run_program(
      EPS_PROGRAM,
      "sample " + folder.file("model.safetensors") + " --latents " + folder.file("latents.npy") +
          " --out " + folder.file("out.npy") + " --solver dpmpp_2m --steps 60 --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Tensor images = read_npy(folder.file("out.npy"));

  std::vector<double> grid;
  const Tensor levels = iddpm_noise_levels(iddpm);
  const Tensor even =
      time_grid(edm(), {.steps = 60, .sigma_min = levels[29].item<double>(), .sigma_max = 80});
  for (int64_t i = 0; i <= 60; ++i) {
    const double level = levels[(levels - even[i]).abs().argmin().item<int64_t>()].item<double>();
    if (grid.empty() || grid.back() != level) grid.push_back(level);
  }
  ASSERT_LT(grid.size(), 32u);
  const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
    return denoise(model.network, iddpm, x, sigma);
  };
  const Tensor own = at::tensor(grid, at::kDouble);
  EXPECT_LT(relative_error(images, dpmpp_2m(mean, edm(), initial_state(edm(), own, latents), own)),
            1e-5);
  EXPECT_GT(
      relative_error(images, dpmpp_2m(mean, edm(), initial_state(edm(), even, latents), even)),
      1e-3);
}

TEST(Sample, TakesTheLastOfAllSeeds) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more memory than the limit";
#endif
  const Folder folder;
  nets::UNetConfig config = small_adm();
  config.label_dim = 0;
  write_checkpoint(folder.file("model.safetensors"), {.network = wave_network(config)});
  const Outcome outcome = run_program(
      std::string("ulimit -v 16000000; timeout 60 ") + EPS_PROGRAM,
      "sample " + folder.file("model.safetensors") + " --out " + folder.file("out.npy") +
          " --seeds 18446744073709551614-18446744073709551615 --steps 2 --threads 1 --device cpu");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(read_npy(folder.file("out.npy")).size(0), 2);
}

}  // namespace
}  // namespace eps
