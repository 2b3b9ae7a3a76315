// Time of a call A->apply(x) for an image of 64 x 64, in microseconds: what
// benchmarks/python_bench.py compares the same call from Python with. One thread.
//
//   build/release/benchmarks/call_bench SPEC...
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "eps/operators/task.h"

namespace eps {
namespace {

double microseconds(const Operator& A, const Tensor& x) {
  using Clock = std::chrono::steady_clock;
  constexpr int kParts = 50, kCalls = 40;
  double least = 1e9;
  for (int part = 0; part < kParts; ++part) {
    const auto begin = Clock::now();
    for (int call = 0; call < kCalls; ++call) A->apply(x);
    const std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
    least = std::min(least, taken.count() / kCalls);
  }
  return least;
}

void run(const std::string& spec) {
  Rng rng(0);
  const Operator A = make_operator(spec, at::empty({1, 3, 64, 64}, at::kDouble), rng);
  const Tensor x = Rng(1).uniform({1, 3, 64, 64}).to(at::kFloat);
  fmt::print("{} {:.3f}\n", spec, microseconds(A, x));
}

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  at::set_num_threads(1);
  for (int i = 1; i < argc; ++i) eps::run(argv[i]);
}
