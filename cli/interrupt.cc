// Interrupts of a long run.
#include "cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <ctime>

namespace eps::cli {
namespace {

std::atomic<std::time_t> first_interrupt = 0;  // time of the first signal; 0: none
std::atomic<int> last_signal = 0;
static_assert(std::atomic<std::time_t>::is_always_lock_free);

}  // namespace

void handle_interrupts() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int number) {
      const std::time_t now = std::time(nullptr);
      std::time_t first = 0;
      last_signal = number;
      // Signals within a second count as one: timeout and some shells also signal the group.
      if (first_interrupt.compare_exchange_strong(first, now) || now - first <= 1) return;
      std::signal(number, SIG_DFL);
      std::raise(number);
    });
}

bool interrupted() { return first_interrupt != 0; }

int interrupt_signal() { return last_signal; }

}  // namespace eps::cli
