// Ranks and gradient sums, between processes that this program starts of itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <thread>

#include "eps/base/random.h"
#include "eps/runtime/gradient_sum.h"
#include "tests/files.h"
#include "tests/runtime/rank_processes.h"

namespace eps {
namespace {

// What a rank does, in its own process. A failed check() is its exit status and message.

at::Device device_of_rank() {
  if (std::getenv("EPS_TEST_CUDA") == nullptr) return at::kCPU;
  return {at::kCUDA, 0};
}

void sum_broadcast_and_meet() {
  const Ranks ranks = Ranks::from_environment(device_of_rank());
  const int64_t n = ranks.size();
  for (const auto type : {at::kDouble, at::kFloat, at::kLong}) {
    const auto options = at::TensorOptions(device_of_rank()).dtype(type);
    const Tensor ones = at::ones({3, 2}, options);
    const Tensor numbers = (ranks.rank() + 1) * ones, transposed = numbers.clone().t();
    ranks.sum(numbers);
    ranks.sum(transposed);
    check(numbers.equal(ones * (n * (n + 1) / 2)), "a sum over ranks gave ", numbers);
    check(transposed.equal(numbers.t()), "a sum of a transposed tensor gave ", transposed);
    const Tensor first = (ranks.rank() + 10) * ones;
    ranks.broadcast(first);
    check(first.equal(10 * ones), "a broadcast gave ", first);
    const Tensor a = ones.clone(), b = 2 * ones;
    Ranks::Pending sum_a = ranks.start_sum(a), sum_b = ranks.start_sum(b);
    sum_b.wait();
    sum_a.wait();
    check(a.equal(n * ones) && b.equal(2 * n * ones), "two sums at once gave ", a, b);
  }
  const std::string sign = std::getenv("EPS_TEST_SIGN");
  if (ranks.rank() == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    put_bytes(sign, "here");
  }
  ranks.barrier();
  check(std::filesystem::exists(sign), "a barrier let a rank through before all had come");
}

// Two convolutions. `extra` is a parameter between them that takes no part.
struct SmallNetwork {
  explicit SmallNetwork(bool extra) {
    Rng rng(1);
    std::vector<Shape> shapes = {{8, 3, 3, 3}, {8}, {4, 8, 3, 3}, {4}};
    if (extra) shapes.insert(shapes.begin() + 2, {5});
    int64_t size = 0;
    for (const Shape& shape : shapes) size += c10::multiply_integers(shape);
    gradient = at::zeros({size}, device_of_rank());
    int64_t offset = 0;
    for (const Shape& shape : shapes) {
      Tensor parameter = (0.2 * rng.normal(shape)).to(gradient.options());
      parameter.requires_grad_(true);
      parameter.mutable_grad() =
          gradient.narrow(0, offset, parameter.numel()).view(parameter.sizes());
      offset += parameter.numel();
      parameters.push_back(parameter);
    }
  }

  // Adds the gradient for the images of one rank and round.
  void backward(int64_t rank, int64_t round) const {
    const Tensor x = Rng(100 + 10 * rank + round).normal({2, 3, 8, 8}).to(gradient.options());
    const size_t n = parameters.size();
    const Tensor h = at::conv2d(x, parameters[0], parameters[1], 1, 1).tanh();
    at::conv2d(h, parameters[n - 2], parameters[n - 1], 1, 1).square().mean().backward();
  }

  std::vector<Tensor> parameters;
  Tensor gradient;
};

// Two steps of two rounds each against the sum of every rank's gradients, all made here.
void check_gradient_sum(const Ranks& ranks, bool extra, int64_t bucket_bytes, int64_t early) {
  const SmallNetwork network(extra), alone(extra);
  GradientSum sum(ranks, network.parameters, network.gradient, bucket_bytes);
  for (int64_t step = 0; step < 2; ++step) {
    network.gradient.zero_();
    alone.gradient.zero_();
    for (int64_t rank = 0; rank < ranks.size(); ++rank) {
      for (int64_t round = 0; round < 2; ++round) alone.backward(rank, 2 * step + round);
    }
    network.backward(ranks.rank(), 2 * step);
    sum.arm();
    network.backward(ranks.rank(), 2 * step + 1);
    sum.finish();
    const double error =
        ((network.gradient - alone.gradient).abs().max() / alone.gradient.abs().max())
            .item<double>();
    check(error < 1e-6, "step ", step, ": the summed gradient is off by ", error);
    check(sum.sent_early() == early,
          sum.sent_early(),
          " of ",
          sum.buckets(),
          " buckets were sent before backward() returned, wanted ",
          early);
  }
}

void sum_gradients() {
  const Ranks ranks = Ranks::from_environment(device_of_rank());
  check_gradient_sum(ranks, false, 1, 4);        // a bucket a parameter, all sent early
  check_gradient_sum(ranks, false, 1000, 2);     // {4, 4 x 8 x 3 x 3}, the rest
  check_gradient_sum(ranks, false, 1 << 20, 1);  // one bucket
  // The unused parameter's bucket, and those behind it, must wait for finish().
  check_gradient_sum(ranks, true, 1, 2);
  check_gradient_sum(ranks, true, 1 << 20, 0);
}

// Rank EPS_TEST_LOST leaves in the way of the scenario; the others sum until they notice.
void lose(const std::function<void()>& leave, int timeout) {
  const Ranks ranks = Ranks::from_environment(device_of_rank(), std::chrono::seconds(timeout));
  if (ranks.rank() == std::stoll(std::getenv("EPS_TEST_LOST"))) return leave();
  // Many sums under way: the time-out must not pass for each of them.
  const Tensor numbers = at::ones({100, 1000}, device_of_rank());
  std::vector<Ranks::Pending> sums;
  for (int64_t i = 0; i < 100; ++i) sums.push_back(ranks.start_sum(numbers[i]));
  const SmallNetwork network(false);
  GradientSum sum(ranks, network.parameters, network.gradient, 1);
  sum.arm();
  network.backward(ranks.rank(), 0);
  sum.finish();
  fail("a sum without all ranks ended well");
}

const std::map<std::string, std::function<void()>> kScenarios = {
    {"collectives", sum_broadcast_and_meet},
    {"gradients", sum_gradients},
    {"exit", [] { lose([] {}, 50); }},
    {"kill", [] { lose([] { ::raise(SIGKILL); }, 50); }},
    {"hang", [] { lose([] { ::pause(); }, 6); }},
    {"meet", [] { Ranks::from_environment(device_of_rank(), std::chrono::seconds(2)); }},
};

// The tests.

// Processes, and whether they share a GPU (NCCL) or use the CPU (Gloo).
struct Run {
  int size = 2;
  bool cuda = false;
};

class SeveralRanks : public testing::TestWithParam<Run> {
 protected:
  void SetUp() override {
    if (GetParam().cuda && !at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
#ifndef EPS_HAS_GLOO
    if (!GetParam().cuda) GTEST_SKIP() << "built without Gloo";
#endif
#ifndef EPS_HAS_NCCL
    if (GetParam().cuda) GTEST_SKIP() << "built without NCCL";
#endif
  }

  // All ranks of a scenario, not yet waited for.
  std::unique_ptr<RankProcesses> start(const std::string& scenario,
                                       const std::string& variable = "") const {
    auto processes = std::make_unique<RankProcesses>(scenario, GetParam().size);
    processes->set(variable);
    if (GetParam().cuda) processes->set("EPS_TEST_CUDA=1");
    for (int rank = 0; rank < GetParam().size; ++rank) processes->start(rank);
    return processes;
  }

  void expect_success(RankProcesses& processes) const {
    for (int rank = 0; rank < GetParam().size; ++rank) {
      const Ended ended = processes.end(rank);
      EXPECT_EQ(ended.status, 0) << "rank " << rank << ": " << ended.output;
    }
  }

  // The other ranks end by themselves, with one line each; c10d logs some more for NCCL.
  void expect_noticed(const std::string& scenario) const {
    const int size = GetParam().size;
    std::map<int, std::unique_ptr<RankProcesses>> runs;
    for (const int lost : {0, size - 1}) {
      runs[lost] = start(scenario, "EPS_TEST_LOST=" + std::to_string(lost));
    }
    for (const auto& [lost, processes] : runs) {
      for (int rank = 0; rank < size; ++rank) {
        if (rank == lost) continue;
        const Ended ended = processes->end(rank);
        const std::string wanted = "rank " + std::to_string(rank) + " of " + std::to_string(size) +
                                   ": lost another process of this run during a sum (";
        EXPECT_EQ(ended.status, 3) << rank << ": " << ended.output;
        const size_t line = ended.output.find(wanted);
        ASSERT_NE(line, std::string::npos) << ended.output;
        EXPECT_EQ(ended.output.find('\n', line), ended.output.size() - 1) << ended.output;
        EXPECT_TRUE(line == 0 || GetParam().cuda) << ended.output;
      }
    }
  }
};

TEST_P(SeveralRanks, SumBroadcastAndMeet) {
  const Folder folder;
  expect_success(*start("collectives", "EPS_TEST_SIGN=" + folder.file("here")));
}

TEST_P(SeveralRanks, SumGradientsDuringTheBackwardPass) { expect_success(*start("gradients")); }

TEST_P(SeveralRanks, EndWhenOneExits) { expect_noticed("exit"); }
TEST_P(SeveralRanks, EndWhenOneIsKilled) { expect_noticed("kill"); }
TEST_P(SeveralRanks, EndAfterTheTimeOutWhenOneHangs) { expect_noticed("hang"); }

TEST_P(SeveralRanks, EndAfterTheTimeOutWhenOneNeverComes) {
  RankProcesses without_1("meet", 2), without_0("meet", 2);
  for (RankProcesses* processes : {&without_1, &without_0}) {
    if (GetParam().cuda) processes->set("EPS_TEST_CUDA=1");
  }
  without_1.start(0);
  without_0.start(1);
  for (const Ended& ended : {without_1.end(0), without_0.end(1)}) {
    EXPECT_EQ(ended.status, 3) << ended.output;
    EXPECT_NE(ended.output.find("the ranks did not meet at 127.0.0.1:"), std::string::npos)
        << ended.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Gloo, SeveralRanks, testing::Values(Run{2}, Run{3}));
INSTANTIATE_TEST_SUITE_P(Nccl, SeveralRanks, testing::Values(Run{2, true}));

TEST(OneRank, LeavesNumbersAlone) {
  const Ranks ranks;
  EXPECT_EQ(ranks.size(), 1);
  EXPECT_TRUE(ranks.first());
  const Tensor numbers = at::arange(3);
  ranks.sum(numbers);
  ranks.start_sum(numbers).wait();
  ranks.broadcast(numbers);
  ranks.barrier();
  EXPECT_TRUE(identical(numbers, at::arange(3)));
  const SmallNetwork network(true), alone(true);
  GradientSum sum(ranks, network.parameters, network.gradient);
  sum.arm();
  network.backward(0, 0);
  sum.finish();
  alone.backward(0, 0);
  EXPECT_EQ(sum.buckets(), 0);
  EXPECT_TRUE(identical(network.gradient, alone.gradient));
}

}  // namespace

int run_rank(const std::string& scenario) {
  try {
    kScenarios.at(scenario)();
    return 0;
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}

}  // namespace eps

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--rank") return eps::run_rank(arguments[2]);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
