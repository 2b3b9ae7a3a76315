// The compiler builds each kernel for three instruction sets; the program chooses one when it
// starts.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EPS_FOR_EACH_CPU \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EPS_FOR_EACH_CPU
#endif

// EPS_INLINE marks a body that is inlined into, and so compiled for, each clone of its caller.
#define EPS_INLINE inline __attribute__((always_inline))
