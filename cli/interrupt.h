// Interrupts of a long run: the first ends it in good order, a later one at once.
#pragma once

namespace eps::cli {

// Catches SIGINT and SIGTERM from here on.
void handle_interrupts();
// Tells whether one has come.
bool interrupted();

}  // namespace eps::cli
