// A guard against CPUs that announce AMX but hide its tile palettes.
#include "eps/runtime/amx_guard.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <cstdlib>

namespace eps {
namespace {

constexpr uint32_t kTileLeaf = 0x1D;

// The initialiser runs when the library is loaded, before any computation.
[[maybe_unused]] const bool guarded = [] {
  limit_instruction_set(
      cpuid_tiles(),
      {.has = [](const char* name) { return std::getenv(name) != nullptr; },
       .set = [](const char* name, const char* value) { ::setenv(name, value, 0); }});
  return true;
}();

}  // namespace

CpuidTiles cpuid_tiles() {
  CpuidTiles cpu;
#if defined(__x86_64__) || defined(__i386__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  cpu.highest_leaf = __get_cpuid_max(0, nullptr);
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) cpu.announced = (edx >> 24) & 1;
  if (__get_cpuid_count(kTileLeaf, 0, &eax, &ebx, &ecx, &edx)) cpu.palettes = eax;
#endif
  return cpu;
}

bool has_unsound_tiles(const CpuidTiles& cpu) {
  return cpu.announced && (cpu.highest_leaf < kTileLeaf || cpu.palettes == 0);
}

void limit_instruction_set(const CpuidTiles& cpu, const Environment& environment) {
  constexpr const char* kNames[] = {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"};
  if (!has_unsound_tiles(cpu)) return;
  for (const char* name : kNames)
    if (environment.has(name)) return;
  for (const char* name : kNames) environment.set(name, "AVX512_CORE_BF16");
}

}  // namespace eps
