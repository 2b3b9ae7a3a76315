// What launchers say in the environment, and what is said about a wrong one.
#include "eps/runtime/rank_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "eps/runtime/distributed.h"
#include "tests/files.h"

namespace eps {
namespace {

// No launcher's variables but those a test sets.
class RankEnvironment : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const char* launcher : {"RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE",
                                 "MASTER_ADDR MASTER_PORT OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK",
                                 "OMPI_COMM_WORLD_LOCAL_SIZE",
                                 "PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS",
                                 "SLURM_PROCID SLURM_NTASKS SLURM_LOCALID",
                                 "TORCHELASTIC_USE_AGENT_STORE TORCHELASTIC_RESTART_COUNT"}) {
      std::istringstream names(launcher);
      for (std::string name; names >> name;) ::unsetenv(name.c_str());
    }
  }

  // "RANK=1 WORLD_SIZE=2"
  static void set(const std::string& variables) {
    clear();
    std::istringstream words(variables);
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      ::setenv(word.substr(0, equals).c_str(), word.substr(equals + 1).c_str(), 1);
    }
  }

  static std::string error_with(const std::string& variables) {
    set(variables);
    return error_of([] { Ranks::from_environment(at::kCPU); });
  }
};

TEST_F(RankEnvironment, IsReadFromEveryLauncher) {
  for (const char* variables :
       {"RANK=3 WORLD_SIZE=8 LOCAL_RANK=1",
        "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1",
        "PMI_RANK=3 PMI_SIZE=8 MPI_LOCALRANKID=1",
        "SLURM_PROCID=3 SLURM_NTASKS=8 SLURM_LOCALID=1",
        "RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_LOCALID=0"}) {
    SCOPED_TRACE(variables);
    set(variables);
    const RankNumbers numbers = ranks_in_environment();
    EXPECT_EQ(numbers.rank, 3);
    EXPECT_EQ(numbers.size, 8);
    EXPECT_EQ(numbers.local, 1);
  }
  set("RANK=3 WORLD_SIZE=8");
  EXPECT_EQ(ranks_in_environment().local, 3);
}

TEST_F(RankEnvironment, SaysHowManyShareTheCores) {
  const auto neighbours = [](const std::string& variables) {
    set(variables);
    return processes_on_these_cores();
  };
  EXPECT_EQ(neighbours(""), 1);
  EXPECT_EQ(neighbours("RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2"), 2);
  EXPECT_EQ(neighbours("RANK=3 WORLD_SIZE=8"), 8);
  EXPECT_EQ(neighbours("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 "
                       "OMPI_COMM_WORLD_LOCAL_SIZE=4"),
            4);
  for (const char* nonsense : {"WORLD_SIZE=x", "RANK=0 WORLD_SIZE=1 LOCAL_WORLD_SIZE=0", "RANK=2"})
    EXPECT_EQ(neighbours(nonsense), 1) << nonsense;
  EXPECT_EQ(neighbours("SLURM_PROCID=3 SLURM_NTASKS=8 SLURM_LOCALID=1"), 1);
}

TEST_F(RankEnvironment, WithoutALauncherIsARunOfOne) {
  for (const char* variables : {"", "RANK=0 WORLD_SIZE=1", "SLURM_NTASKS=4"}) {
    set(variables);
    EXPECT_EQ(Ranks::from_environment(at::kCPU).size(), 1) << variables;
  }
}

TEST_F(RankEnvironment, ThatIsWrongIsNamed) {
  EXPECT_EQ(error_with("RANK=1"),
            "RANK=1 is set but WORLD_SIZE is not: a run of several ranks needs both, a run of one "
            "neither");
  EXPECT_EQ(error_with("WORLD_SIZE=2"),
            "WORLD_SIZE=2 is set but RANK is not: a run of several ranks needs both, a run of one "
            "neither");
  EXPECT_EQ(error_with("RANK=one WORLD_SIZE=2"), "RANK must be a whole number, got 'one'");
  EXPECT_EQ(error_with("RANK=0 WORLD_SIZE=2x"), "WORLD_SIZE must be a whole number, got '2x'");
  EXPECT_EQ(error_with("RANK=-1 WORLD_SIZE=2"), "RANK must be a whole number, got '-1'");
  EXPECT_EQ(error_with("RANK=0 WORLD_SIZE=0"), "WORLD_SIZE must be at least 1, got 0");
  EXPECT_EQ(error_with("PMI_RANK=2 PMI_SIZE=2"), "PMI_RANK must be less than PMI_SIZE=2, got 2");
}

TEST_F(RankEnvironment, WithoutAPlaceToMeetSaysWhatToExport) {
  EXPECT_EQ(error_with("RANK=0 WORLD_SIZE=2"),
            "a run of 2 ranks needs a port to meet at: export MASTER_PORT=29500 (any free port) to "
            "all of them");
  for (const char* port : {"0", "65536", "-1", "port"}) {
    EXPECT_EQ(error_with(std::string("RANK=0 WORLD_SIZE=2 MASTER_PORT=") + port),
              std::string("MASTER_PORT must be a port from 1 to 65535, got '") + port + "'");
  }
  EXPECT_EQ(error_with("RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 MASTER_PORT=29500"),
            "rank 5 of 8 is not on the machine of rank 0, and MASTER_ADDR is not set: export "
            "MASTER_ADDR=<host of rank 0>");
}

TEST_F(RankEnvironment, SaysWhetherTorchrunKeepsTheStore) {
  set("MASTER_ADDR=node7 MASTER_PORT=29500");
  const Meeting own = meeting_in_environment({.rank = 1, .size = 2, .local = 0});
  EXPECT_EQ(own.host, "node7");
  EXPECT_EQ(own.port, 29500);
  EXPECT_FALSE(own.store_runs);
  set("MASTER_PORT=1 TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RESTART_COUNT=2");
  const Meeting torchrun = meeting_in_environment({.rank = 0, .size = 2, .local = 0});
  EXPECT_EQ(torchrun.host, "127.0.0.1");
  EXPECT_TRUE(torchrun.store_runs);
  EXPECT_NE(torchrun.prefix, own.prefix);
}

}  // namespace
}  // namespace eps
