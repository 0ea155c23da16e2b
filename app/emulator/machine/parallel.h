#pragma once

#include <functional>

namespace warpscope::emulator {

/// Runs body(0) … body(count - 1), each on its own thread if the machine has so many.
void run_parallel(unsigned count, const std::function<void(unsigned)>& body);
/// The processors that this thread may use, at least 1.
unsigned hardware_threads();

}  // namespace warpscope::emulator
