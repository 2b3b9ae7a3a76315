// The processes of one run, over libtorch's c10d. CMake defines EPS_HAS_GLOO and EPS_HAS_NCCL where
// libtorch and its headers have these backends; the headers are empty without the macros set here.
#include "eps/runtime/distributed.h"

#ifdef EPS_HAS_GLOO
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef EPS_HAS_NCCL
#ifndef USE_C10D_NCCL
#define USE_C10D_NCCL
#endif
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif
#if defined(EPS_HAS_GLOO) || defined(EPS_HAS_NCCL)
#define EPS_HAS_C10D
#include <torch/version.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>

namespace eps {
#ifdef EPS_HAS_C10D

namespace {

#if TORCH_VERSION_MAJOR >= 2
using Backend = c10d::Backend;
#else
using Backend = c10d::ProcessGroup;
#endif
using StorePointer = c10::intrusive_ptr<c10d::Store>;
using BackendPointer = c10::intrusive_ptr<Backend>;
using Milliseconds = std::chrono::milliseconds;

// Returns c10d's message without its position in the source ("[pair.cc:598] ...") and its stack
// trace.
std::string one_line(const std::exception& error) {
  const auto* traced = dynamic_cast<const c10::Error*>(&error);
  std::string text = traced ? traced->what_without_backtrace() : error.what();
  text = text.substr(0, text.find('\n'));
  if (const size_t stop = text.find("] "); text.starts_with('[') && stop != text.npos) {
    text.erase(0, stop + 2);
  }
  if (text.ends_with('.')) text.pop_back();
  return text;
}

StorePointer connect_store(const Meeting& meeting,
                           const RankNumbers& numbers,
                           Milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = meeting.port;
  options.isServer = numbers.rank == 0 && !meeting.store_runs;
  options.numWorkers = static_cast<size_t>(numbers.size);
  options.waitWorkers = !meeting.store_runs;
  options.timeout = timeout;
  auto store = c10::make_intrusive<c10d::PrefixStore>(
      meeting.prefix, c10::make_intrusive<c10d::TCPStore>(meeting.host, options));
  store->setTimeout(timeout);
  return store;
}

#ifdef EPS_HAS_GLOO
// Returns the loopback device when the ranks meet there: the name of a machine need not resolve to
// one of its addresses.
auto gloo_device(const Meeting& meeting) {
  using Gloo = c10d::ProcessGroupGloo;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') return Gloo::createDeviceForInterface(interface);
  const bool loopback = meeting.host == "localhost" || meeting.host.starts_with("127.");
  return loopback ? Gloo::createDeviceForHostname("127.0.0.1") : Gloo::createDefaultDevice();
}
#endif

BackendPointer connect_gloo([[maybe_unused]] const StorePointer& store,
                            [[maybe_unused]] const Meeting& meeting,
                            const RankNumbers& numbers,
                            [[maybe_unused]] Milliseconds timeout) {
#ifdef EPS_HAS_GLOO
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(gloo_device(meeting));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      store, static_cast<int>(numbers.rank), static_cast<int>(numbers.size), options);
#else
  fail(numbers.size,
       " ranks on CPUs need Gloo, whose headers were not beside libtorch's when eps was built "
       "(Debian: libgloo-dev)");
#endif
}

BackendPointer connect_nccl([[maybe_unused]] const StorePointer& store,
                            const RankNumbers& numbers,
                            [[maybe_unused]] Milliseconds timeout) {
#ifdef EPS_HAS_NCCL
  // The classes below hold NCCL's structures: sizes must agree with those libtorch was built with.
  const uint64_t theirs = torch::cuda::nccl::version() >> 16;
  constexpr uint64_t ours = (uint64_t{NCCL_MAJOR} << 16) + NCCL_MINOR;
  check(theirs == ours,
        "eps was built with the nccl.h of NCCL ",
        NCCL_MAJOR,
        ".",
        NCCL_MINOR,
        ", libtorch with NCCL ",
        theirs >> 16,
        ".",
        theirs & 0xffff,
        ": build eps with the latter's");
  // wait() blocks and throws after the time-out. Without this setting a watchdog aborts the
  // process.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  ::setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 1);
#else
  ::setenv("NCCL_BLOCKING_WAIT", "1", 1);
#endif
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(
      store, static_cast<int>(numbers.rank), static_cast<int>(numbers.size), options);
#else
  fail(numbers.size,
       " ranks on GPUs need NCCL: eps was built without it (nccl.h was not found, or libtorch has "
       "no NCCL)");
#endif
}

// Ends the group together with the other ranks, or alone if ranks were lost. NCCL's destructor ends
// the group alone, with a warning; older versions have no other way.
template <class Group>
void end(Group& group, bool together) {
  if constexpr (requires { group.shutdown(), group.abort(); }) {
    together ? group.shutdown() : group.abort();
  }
}

}  // namespace

struct Ranks::Group {
  RankNumbers numbers;
  at::Device device;
  StorePointer store;
  BackendPointer backend;
  mutable std::atomic<bool> lost = false;

  Group(const RankNumbers& numbers, at::Device device) : numbers(numbers), device(device) {}
  Group(const Group&) = delete;

  ~Group() {
    if (!backend) return;
    try {
      end(*backend, !lost && std::uncaught_exceptions() == 0);
    } catch (const std::exception&) {  // all sums are complete: another rank ended first
    }
  }

  void connect(std::chrono::seconds timeout) {
    const Meeting meeting = meeting_in_environment(numbers);
    // Writing to a rank that has ended must be an error, not the end of this process without a
    // message.
    std::signal(SIGPIPE, SIG_IGN);
    try {
      store = connect_store(meeting, numbers, timeout);
      backend = device.is_cpu() ? connect_gloo(store, meeting, numbers, timeout)
                                : connect_nccl(store, numbers, timeout);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      fail(name(),
           ": the ranks did not meet at ",
           meeting.host,
           ":",
           meeting.port,
           " within ",
           timeout.count(),
           " s (",
           one_line(error),
           "); are all of them running, and is the port free?");
    }
  }

  std::string name() const {
    return "rank " + std::to_string(numbers.rank) + " of " + std::to_string(numbers.size);
  }

  template <class Action>
  auto guarded(const char* during, const Action& action) const {
    check(!lost, name(), ": lost another process of this run before a ", during);
    try {
      return action();
    } catch (const std::exception& error) {
      lost = true;
      fail(name(),
           ": lost another process of this run during a ",
           during,
           " (",
           one_line(error),
           "); start all ranks again to resume from the last checkpoint");
    }
  }

  std::vector<Tensor> operand(const char* during, const Tensor& tensor) const {
    check(tensor.defined() && tensor.device() == device && tensor.is_non_overlapping_and_dense(),
          "a ",
          during,
          " over ranks takes a dense tensor on ",
          device.str());
    // NCCL accepts only flat arrays: the numbers in the order of their addresses.
    return {tensor.detach().as_strided({tensor.numel()}, {1})};
  }
};

Ranks Ranks::from_environment(at::Device device, std::chrono::seconds timeout) {
  Ranks ranks;
  ranks.numbers_ = ranks_in_environment();
  if (ranks.size() == 1) return ranks;
  check(device.is_cpu() || device.has_index(), "ranks on GPUs need cuda:K, got ", device.str());
  const auto group = std::make_shared<Group>(ranks.numbers_, device);
  group->connect(timeout);
  ranks.group_ = group;
  ranks.barrier();
  return ranks;
}

Ranks::Pending Ranks::start_sum(const Tensor& tensor) const {
  Pending pending;
  if (!group_) return pending;
  auto tensors = group_->operand("sum", tensor);
  const auto work = group_->guarded("sum", [&] { return group_->backend->allreduce(tensors); });
  pending.wait_ = [group = group_, tensors, work] { group->guarded("sum", [&] { work->wait(); }); };
  return pending;
}

void Ranks::broadcast(const Tensor& tensor) const {
  if (!group_) return;
  auto tensors = group_->operand("broadcast", tensor);
  group_->guarded("broadcast", [&] { group_->backend->broadcast(tensors)->wait(); });
}

// A sum serves as the barrier: NCCL's own barrier guesses the device.
void Ranks::barrier() const {
  if (group_) sum(at::zeros({1}, group_->device));
}

#else

struct Ranks::Group {};

Ranks Ranks::from_environment(at::Device, std::chrono::seconds) {
  Ranks ranks;
  ranks.numbers_ = ranks_in_environment();
  if (ranks.size() > 1) meeting_in_environment(ranks.numbers_);
  check(ranks.size() == 1,
        "a run of ",
        ranks.size(),
        " ranks needs c10d: eps was built without it (Debian: libgloo-dev for Gloo; nccl.h for "
        "NCCL)");
  return ranks;
}

Ranks::Pending Ranks::start_sum(const Tensor&) const { return {}; }
void Ranks::broadcast(const Tensor&) const {}
void Ranks::barrier() const {}

#endif

void Ranks::sum(const Tensor& tensor) const { start_sum(tensor).wait(); }

void Ranks::Pending::wait() {
  if (wait_) std::exchange(wait_, nullptr)();
}

}  // namespace eps
