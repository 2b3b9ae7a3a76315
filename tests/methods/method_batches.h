// Check that a method gives an image the same sample in a batch as alone.
#pragma once

#include "eps/operators/factories.h"
#include "tests/methods/method_testbed.h"

namespace eps {

// Expects equal samples for three images, each with a mask and a noise level of its own, in one
// batch and one by one.
inline void expect_batch_is_its_images(const std::string& method) {
  SCOPED_TRACE(method);
  const Mixture prior = example_mixture({1, 4, 4}, 2, 3);
  Rng rng(7, 3);
  const Tensor mask = (rng.uniform({3, 1, 4, 4}) < 0.6).to(at::kDouble);
  const Tensor sigma_y = at::tensor({0.05, 0.1, 0.2}, at::kDouble).reshape({3, 1, 1, 1});
  const Problem all = observe(inpainting(mask), prior.sample(rng, 3), sigma_y, rng);
  Rng streams(21, 3);
  const MethodChoice choice = choose_method(method);
  const Tensor batch = sample_posterior(choice, prior, all, {3, 1, 4, 4}, streams).images;
  for (int64_t i = 0; i < 3; ++i) {
    const Problem one{
        inpainting(mask.narrow(0, i, 1)), all.y.narrow(0, i, 1), sigma_y.narrow(0, i, 1), {}};
    Rng stream(21, std::vector<uint64_t>{static_cast<uint64_t>(i)});
    expect_close(batch.narrow(0, i, 1),
                 sample_posterior(choice, prior, one, {1, 1, 4, 4}, stream).images);
  }
}

}  // namespace eps
