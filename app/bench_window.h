#pragma once

#include <vector>

#include "jobs/bench/bench.h"

namespace warpscope {

/// The section "window" of the bench: opens the window with each experiment at its most expensive
/// setting, on the emulator, presses widgets at random, and measures the frames per second and the
/// time from a press to its effect on screen. Adds no rows where there is no display.
void bench_window(std::vector<jobs::BenchRow>& rows);

}  // namespace warpscope
