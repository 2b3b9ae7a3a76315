// Trains a small EPS network on images drawn on the spot, and restores images outside the training
// set.
#include <cstdio>

#include "eps/diffusion/sampler.h"
#include "eps/metrics/psnr.h"
#include "eps/model/network_denoiser.h"
#include "eps/training/initial_network.h"

int main() {
  // The task is noise 0.05 and 70% of the pixels missing; the network has 0.2 M parameters and
  // takes the pivot and y.
  eps::training::TrainingConfig config;
  config.tasks = {"inpaint_random:missing=0.7"};
  config.preset = "tiny";
  config.preconditioning = "anisotropic";
  config.batch = 16;
  config.learning_rate = 5e-3;
  config.rampup = 500;
  config.ema_halflife = 1000;
  config = eps::training::resolved(config);

  const eps::Dataset data = eps::read_dataset({"synthetic:size=16,count=1000"}, {});
  const eps::training::BatchSource source(data, eps::training::batch_options(config), at::kCPU);
  eps::training::Trainer trainer(
      eps::training::initial_network(config, data), source, eps::training::trainer_options(config));
  for (int step = 1; step <= 400; ++step) {
    trainer.step();
    if (step % 100 == 0) std::printf("step %d: loss %.3f\n", step, trainer.report().loss.all);
  }

  // Measures eight new images, and draws one posterior sample and one mean of eight for each.
  const c10::NoGradGuard no_gradients;
  const eps::Dataset unseen = eps::read_dataset({"synthetic:size=16,count=8,seed=1"}, {});
  const auto group =
      eps::training::BatchSource(unseen, eps::training::batch_options(config), at::kCPU)
          .make_problems(0, 8)[0];
  const eps::NetworkDenoiser denoiser(trainer.average());
  const eps::Mean mean = eps::posterior_mean(denoiser, group.problem, eps::edm(), denoiser.input());
  eps::Tensor sum;
  double single = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    eps::Rng rng(seed, 8);
    const eps::Tensor sample = eps::sample(mean, eps::edm(), group.x0.sizes().vec(), {}, rng);
    single += eps::psnr(sample, group.x0).mean().item<double>() / 8;
    sum = sum.defined() ? sum + sample : sample;
  }
  std::printf("PSNR: measurement %.1f dB, posterior samples %.1f dB, mean of 8 samples %.1f dB\n",
              eps::psnr(group.problem.y, group.x0).mean().item<double>(),
              single,
              eps::psnr(sum / 8, group.x0).mean().item<double>());
}
