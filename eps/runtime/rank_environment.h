// Which rank of how many this process is and where the ranks meet, as torchrun, mpirun or srun say.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct RankNumbers {
  int64_t rank = 0;   // 0 <= rank < size
  int64_t size = 1;   // processes in the run
  int64_t local = 0;  // this one's number among those on its machine: it uses cuda:local
};

// What the environment says, without connecting: RANK, WORLD_SIZE, LOCAL_RANK (torchrun),
// OMPI_COMM_WORLD_* or PMI_* (mpirun), SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID (srun), the first
// that is there.
RankNumbers ranks_in_environment();

// Processes that share the cores this one sees, itself included: LOCAL_WORLD_SIZE,
// OMPI_COMM_WORLD_LOCAL_SIZE or MPI_LOCALNRANKS, or all ranks where none is there. srun gives every
// process cores of its own. A value that makes no sense counts as 1.
int64_t processes_on_these_cores();

// Where the ranks meet.
struct Meeting {
  std::string host;         // MASTER_ADDR, or 127.0.0.1
  uint16_t port = 0;        // MASTER_PORT
  bool store_runs = false;  // torchrun keeps a store there; otherwise rank 0 does
  std::string prefix;       // of the keys: torchrun's store outlives the processes it starts again
};

Meeting meeting_in_environment(const RankNumbers& numbers);

}  // namespace eps
