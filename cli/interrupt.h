// Interrupts of a long run: the first ends the run in good order, a later one at once.
#pragma once

namespace eps::cli {

// Catches SIGINT and SIGTERM from here on.
void handle_interrupts();
// Returns whether a signal has arrived.
bool interrupted();
// Returns the number of the last signal; 0 before the first.
int interrupt_signal();

}  // namespace eps::cli
