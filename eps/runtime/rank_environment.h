// Rank, number of ranks and meeting point of this process, as set by torchrun, mpirun or srun.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct RankNumbers {
  int64_t rank = 0;   // 0 <= rank < size
  int64_t size = 1;   // processes in the run
  int64_t local = 0;  // number of this process on its machine: it uses cuda:local
};

// Reads the rank from the environment, without connecting: RANK, WORLD_SIZE, LOCAL_RANK (torchrun),
// OMPI_COMM_WORLD_* or PMI_* (mpirun), SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID (srun), from the
// first launcher whose variables are set.
RankNumbers ranks_in_environment();

// Returns the number of processes that share the cores visible to this process, itself included:
// LOCAL_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_SIZE or MPI_LOCALNRANKS, or all ranks where none is set.
// srun gives every process its own cores. An invalid value counts as 1.
int64_t processes_on_these_cores();

// A `Meeting` holds the address of the store through which the ranks connect.
struct Meeting {
  std::string host;         // MASTER_ADDR, or 127.0.0.1
  uint16_t port = 0;        // MASTER_PORT
  bool store_runs = false;  // torchrun keeps the store; otherwise rank 0 does
  std::string prefix;       // prefix of the keys: torchrun's store outlives restarts
};

Meeting meeting_in_environment(const RankNumbers& numbers);

}  // namespace eps
