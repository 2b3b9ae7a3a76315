// Rank, number of ranks and meeting point of this process, as set by torchrun, mpirun or srun.
#include "eps/runtime/rank_environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace eps {
namespace {

// A `Launcher` holds the names of a launcher's variables. Not every mpirun sets a local rank.
struct Launcher {
  const char *rank, *size, *local, *neighbours;
};

// The launchers are in order of precedence: mpirun and torchrun inside a Slurm job inherit Slurm's
// variables, so Slurm comes last.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr},
};

std::string environment(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

int64_t number_in(const char* variable) {
  const std::string_view text = std::getenv(variable);
  int64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(status == std::errc() && stop == text.data() + text.size() && number >= 0,
        variable,
        " must be a whole number, got '",
        text,
        "'");
  return number;
}

RankNumbers numbers_from(const Launcher& names) {
  for (const auto& [there, missing] :
       {std::pair(names.rank, names.size), std::pair(names.size, names.rank)}) {
    check(std::getenv(missing) != nullptr,
          there,
          "=",
          std::getenv(there) ? std::getenv(there) : "",
          " is set but ",
          missing,
          " is not: a run of several ranks needs both, a run of one neither");
  }
  RankNumbers numbers{.rank = number_in(names.rank), .size = number_in(names.size)};
  check(numbers.size >= 1, names.size, " must be at least 1, got ", numbers.size);
  check(numbers.rank < numbers.size,
        names.rank,
        " must be less than ",
        names.size,
        "=",
        numbers.size,
        ", got ",
        numbers.rank);
  numbers.local = std::getenv(names.local) ? number_in(names.local) : numbers.rank;
  return numbers;
}

}  // namespace

RankNumbers ranks_in_environment() {
  for (const Launcher& names : kLaunchers) {
    const bool rank = std::getenv(names.rank), size = std::getenv(names.size);
    // A Slurm job has a number of tasks before srun starts one.
    const bool slurm = std::string_view(names.rank) == "SLURM_PROCID";
    if (slurm ? rank && size : rank || size) return numbers_from(names);
  }
  return {};
}

int64_t processes_on_these_cores() {
  for (const Launcher& names : kLaunchers) {
    if (names.neighbours == nullptr) break;
    for (const char* variable : {names.neighbours, names.size})
      if (const char* value = std::getenv(variable)) return std::max<int64_t>(std::atoll(value), 1);
  }
  return 1;
}

Meeting meeting_in_environment(const RankNumbers& numbers) {
  Meeting meeting;
  meeting.store_runs = environment("TORCHELASTIC_USE_AGENT_STORE", "") == "True";
  meeting.prefix = "eps/" + environment("TORCHELASTIC_RESTART_COUNT", "0");
  meeting.host = environment("MASTER_ADDR", "");
  check(!meeting.host.empty() || numbers.rank == numbers.local,
        "rank ",
        numbers.rank,
        " of ",
        numbers.size,
        " is not on the machine of rank 0, and MASTER_ADDR is not set: export MASTER_ADDR=<host of "
        "rank 0>");
  if (meeting.host.empty()) meeting.host = "127.0.0.1";
  const std::string port = environment("MASTER_PORT", "");
  check(!port.empty(),
        "a run of ",
        numbers.size,
        " ranks needs a port to meet at: export MASTER_PORT=29500 (any free port) to all of them");
  const char* end = port.data() + port.size();
  const auto [stop, status] = std::from_chars(port.data(), end, meeting.port);
  check(status == std::errc() && stop == end && meeting.port > 0,
        "MASTER_PORT must be a port from 1 to 65535, got '",
        port,
        "'");
  return meeting;
}

}  // namespace eps
