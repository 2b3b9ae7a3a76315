// Purposes of random numbers: one stream of numbers for each, whatever the seeds.
//
// Two computations that share a seed (all seeds are 0 unless the user says otherwise) draw
// independent numbers only if their purposes differ: a measurement's noise must not follow from the
// image, nor the operator from the sample. So every purpose of the program stands in this one list.
//
// A seed without a purpose is the key of what is made by itself: the parameters of an example
// prior, the images of a synthetic data set, the initial weights of a network, the starts of `eps
// sample`.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A number, once given, stays: published results follow from it.
enum class Stream : uint32_t {
  measurement_operator = 0,  // of a task whose operator is random
  measurement_noise = 1,
  posterior_sample = 2,
  training_noise = 3,  // also flips, dropped labels and noise levels
  exact_images = 4,    // drawn from a known prior
  colour_noise = 5,    // added to a grey measurement for a network of colours
  rank_ties = 6,
  training_order = 7,
  training_task = 8,
  training_operator = 9,
  preview_sample = 10,
  training_dropout = 100,
  bootstrap = 0xb007,
};

// Held-out images, and their operators and noise, are the same whatever the seed of a run.
constexpr uint64_t kHeldOutSeed = 0x7e57;

// Returns a seed for one purpose; index tells apart several seeds of the same purpose.
uint64_t derive_seed(uint64_t seed, Stream purpose, uint64_t index = 0);

}  // namespace eps
