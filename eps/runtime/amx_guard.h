// A guard against CPUs that announce AMX but hide its tile palettes.
//
// Some hypervisors show AMX in CPUID leaf 7 and hide leaf 0x1D, which describes the palettes.
// oneDNN then configures its tiles with palette 0, which releases them, and the next tile
// instruction of a bfloat16 matrix product ends the process with SIGILL. oneDNN reads
// ONEDNN_MAX_CPU_ISA (DNNL_MAX_CPU_ISA in old versions) when it makes its first primitive, so the
// library limits the instruction set while it is loaded: later would be too late, and a guard in
// main() would not serve other programs.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `CpuidTiles` holds the values of CPUID that concern AMX.
struct CpuidTiles {
  bool announced = false;     // AMX-TILE: leaf 7, subleaf 0, EDX bit 24
  uint32_t highest_leaf = 0;  // the highest basic leaf: leaf 0, EAX
  uint32_t palettes = 0;      // the highest palette: leaf 0x1D, subleaf 0, EAX
};

// Returns the values of this CPU; all are zero on other architectures than x86.
CpuidTiles cpuid_tiles();

// Returns whether the CPU announces tiles without a palette to configure them with.
bool has_unsound_tiles(const CpuidTiles& cpu);

// An `Environment` gives access to the variables of a process.
struct Environment {
  std::function<bool(const char* name)> has;
  std::function<void(const char* name, const char* value)> set;
};

// Limits oneDNN to AVX512_CORE_BF16 on a CPU with unsound tiles, unless the user has set a limit
// under either name.
void limit_instruction_set(const CpuidTiles& cpu, const Environment& environment);

}  // namespace eps
