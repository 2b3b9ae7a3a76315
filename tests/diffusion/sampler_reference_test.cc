// Our samplers on our networks against what EDM's own code draws from the same latents.
#include <gtest/gtest.h>

#include "eps/diffusion/sampler.h"
#include "eps/model/checkpoint.h"
#include "eps/model/preconditioned_query.h"
#include "tests/shared.h"

namespace eps {
namespace {

class AgainstEdmsSampler : public ::testing::TestWithParam<const char*> {};

TEST_P(AgainstEdmsSampler, TrajectoriesEndInTheSameImages) {
  const std::string name = std::string("reference/edm-") + GetParam() + "-16.safetensors";
  const std::string path = shared_file(name);
  if (path.empty()) GTEST_SKIP() << "no " << name << " beside the checkout or under EPS_SHARED";
  const auto recorded = read_safetensors(path).tensors;
  const Checkpoint model = read_checkpoint(path);
  const Tensor latents = recorded.at("ref.latents");
  const int64_t count = latents.size(0);
  const bool conditional = recorded.count("ref.labels") > 0;
  const Tensor labels = conditional ? recorded.at("ref.labels").slice(0, 0, count) : Tensor();
  const c10::NoGradGuard no_gradients;
  // All at once, and one by one: batch 1 must give the same.
  for (const int64_t batch : {count, int64_t{1}}) {
    for (const auto& [solver, steps, answer] :
         {std::tuple{"euler", 10, "ref.euler10"}, {"heun", 8, "ref.heun8"}}) {
      SamplerOptions options;
      options.solver = solver;
      const Tensor grid = time_grid(edm(), {.steps = steps});
      for (int64_t begin = 0; begin < count; begin += batch) {
        const auto part = [&](const Tensor& t) {
          return t.defined() ? t.slice(0, begin, begin + batch) : t;
        };
        const Mean mean = [&](const Tensor& x, const Tensor& sigma) {
          return denoise(model.network,
                         model.preconditioning,
                         x.to(at::kFloat),
                         sigma,
                         {.labels = part(labels)});
        };
        Rng rng(0);
        const Tensor images =
            solve(mean, edm(), initial_state(edm(), grid, part(latents)), grid, options, rng);
        const Tensor wanted = part(recorded.at(answer)).to(at::kDouble);
        EXPECT_LT(((images - wanted).norm() / wanted.norm()).item<double>(), 1e-5)
            << solver << " batch " << batch;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         AgainstEdmsSampler,
                         ::testing::Values("ddpmpp", "ncsnpp", "adm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace eps
