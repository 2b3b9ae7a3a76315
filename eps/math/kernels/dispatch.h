// How the kernels are compiled: once for each of three instruction sets, chosen when the program
// starts.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EPS_FOR_EACH_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EPS_FOR_EACH_CPU
#endif

// A body that is inlined into, and so compiled for, each clone of its caller.
#define EPS_INLINE inline __attribute__((always_inline))
