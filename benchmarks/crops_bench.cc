// Random crops per second, on a GPU if there is one.
//
//   crops_bench SOURCE [batch]
//
// SOURCE is a folder or an archive of pictures. Each row is timed from and to an idle device.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "eps/data/crops.h"
#include "eps/runtime/device.h"

namespace eps {
namespace {

void run(const std::string& source, int64_t batch) {
  const at::Device device = parse_device("auto");
  prepare_device(device);
  const Pictures pictures = read_pictures({source}, {});
  std::printf("| side | reduce | ms | crops/s |\n| --- | --- | --- | --- |\n");
  for (const int64_t side : {64, 128, 256})
    for (const double reduce : {1.0, 2.0, 4.0}) {
      Crops crops(pictures, {.side = side, .reduce = reduce, .transpose = true});
      crops.to(device);
      std::vector<int64_t> places(static_cast<size_t>(batch));
      std::iota(places.begin(), places.end(), 0);
      for (int64_t& place : places) place = place * 9973 % crops.size();
      const auto seconds_of = [&](uint64_t rounds) {
        Tensor drawn;
        const auto start = std::chrono::steady_clock::now();
        for (uint64_t seed = 0; seed < rounds; ++seed) {
          Rng rng(seed, batch);
          drawn = crops.draw(places, rng, device).images;
        }
        drawn.sum().item<float>();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      };
      seconds_of(2);  // warm-up
      const uint64_t rounds = device.is_cpu() ? 3 : 50;
      const double seconds = seconds_of(rounds) / static_cast<double>(rounds);
      std::printf("| %d | %.0f | %.2f | %.0f |\n",
                  static_cast<int>(side),
                  reduce,
                  1e3 * seconds,
                  static_cast<double>(batch) / seconds);
      std::fflush(stdout);
    }
}

}  // namespace
}  // namespace eps

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: crops_bench SOURCE [batch]"), 2;
  eps::run(argv[1], argc > 2 ? std::atoll(argv[2]) : 64);
}
