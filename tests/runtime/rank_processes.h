// Ranks of a run on loopback: each is the test program, started again.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eps/base/core.h"

namespace eps {

struct Ended {
  int status = 0;      // exit status; 128 + signal
  std::string output;  // standard output and error together
};

inline int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(listener);
  check(bound, "no free port on loopback");
  return ntohs(address.sin_port);
}

// `RankProcesses` starts the ranks of one run, each as `program --rank scenario`. No rank outlives
// the test: an alarm ends a rank after a minute and a half, and the kernel ends it with its parent.
class RankProcesses {
 public:
  RankProcesses(const std::string& scenario, int size) : scenario_(scenario) {
    variables_ = {"WORLD_SIZE=" + std::to_string(size),
                  "MASTER_ADDR=127.0.0.1",
                  "MASTER_PORT=" + std::to_string(free_port()),
                  "NCCL_SOCKET_IFNAME=lo",
                  "OMP_NUM_THREADS=1"};
  }
  RankProcesses(const RankProcesses&) = delete;
  ~RankProcesses() {
    for (const auto& [rank, process] : processes_) ::kill(process.id, SIGKILL);
    for (const auto& [rank, process] : processes_) end_of(process);
  }

  // Sets the environment variable "NAME=value" for ranks started later.
  void set(const std::string& variable) { variables_.push_back(variable); }

  void start(int rank) {
    std::vector<std::string> variables = variables_;
    variables.push_back("RANK=" + std::to_string(rank));
    variables.push_back("LOCAL_RANK=" + std::to_string(rank));
    // NCCL accepts two ranks on one GPU when their host ids differ.
    variables.push_back("NCCL_HOSTID=" + std::to_string(rank));
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    int pipe[2];
    check(::pipe2(pipe, O_CLOEXEC) == 0, "cannot make a pipe");
    const pid_t id = ::fork();
    if (id == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::alarm(90);
      ::dup2(pipe[1], STDOUT_FILENO);
      ::dup2(pipe[1], STDERR_FILENO);
      const char* arguments[] = {"ranks", "--rank", scenario_.c_str(), nullptr};
      ::execve("/proc/self/exe", const_cast<char* const*>(arguments), environment.data());
      ::_exit(127);
    }
    ::close(pipe[1]);
    processes_[rank] = {id, pipe[0]};
  }

  // Waits until this rank has ended.
  Ended end(int rank) {
    const Process process = processes_.at(rank);
    processes_.erase(rank);
    return end_of(process);
  }

 private:
  struct Process {
    pid_t id = 0;
    int output = 0;
  };

  static Ended end_of(const Process& process) {
    Ended ended;
    char buffer[4096];
    for (ssize_t count; (count = ::read(process.output, buffer, sizeof buffer)) > 0;) {
      ended.output.append(buffer, static_cast<size_t>(count));
    }
    ::close(process.output);
    int status = 0;
    ::waitpid(process.id, &status, 0);
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
  }

  std::string scenario_;
  std::vector<std::string> variables_;
  std::map<int, Process> processes_;
};

}  // namespace eps
