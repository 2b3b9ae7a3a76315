// Purposes of random numbers: each purpose has its own stream of numbers for every seed.
//
// Two computations that share a seed (all seeds default to 0) draw independent numbers only if
// their purposes differ: the noise of a measurement must not follow from the image, nor the
// operator from the sample. This list therefore contains every purpose of the program.
//
// A seed without a purpose is the key of independent objects: the parameters of an example prior,
// the images of a synthetic data set, the initial weights of a network, the starting noise of `eps
// sample`.
#pragma once

#include "eps/base/core.h"

namespace eps {

// The number of a purpose never changes: published results follow from it.
enum class Stream : uint32_t {
  measurement_operator = 0,  // random operators of tasks
  measurement_noise = 1,
  posterior_sample = 2,
  training_noise = 3,  // also flips, dropped labels and noise levels
  exact_images = 4,    // images drawn from a known prior
  colour_noise = 5,    // noise added to a grey measurement for a network of colour images
  rank_ties = 6,
  training_order = 7,
  training_task = 8,
  training_operator = 9,
  preview_sample = 10,
  training_crop = 11,  // places of crops in pictures
  window = 12,         // seeds of the windows of a picture that are restored by themselves
  rehearsal = 13,      // seeds and noise of a measurement simulated from a sample of the posterior
  training_dropout = 100,
  bootstrap = 0xb007,
};

// The seed of held-out images, and of their operators and noise, does not depend on the seed of a
// run.
constexpr uint64_t kHeldOutSeed = 0x7e57;

// Returns a seed for one purpose; `index` separates several seeds of the same purpose.
uint64_t derive_seed(uint64_t seed, Stream purpose, uint64_t index = 0);

}  // namespace eps
