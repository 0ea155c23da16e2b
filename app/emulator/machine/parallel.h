#pragma once

#include <functional>

namespace warpscope::emulator {

// Runs body(0) … body(count - 1), each on a thread of its own where the machine has as many.
void run_parallel(unsigned count, const std::function<void(unsigned)>& body);
unsigned hardware_threads();

}  // namespace warpscope::emulator
