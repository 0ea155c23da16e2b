#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// Stops before a warp executes a source line: see line_starts().
struct Breakpoint {
    std::string file{};  ///< as Module::files() names it; empty: `line` is a line of the PTX
    int line = 0;        ///< from 1
    std::optional<std::uint32_t> warp{};  ///< only this one
    std::optional<unsigned> lane{};       ///< only if it is among the lanes that reach the line
    std::string condition{};  ///< only if a Condition holds in one of the lanes; empty: always
    bool enabled = true;
};

/// Stops after a step that accesses a word of 4 bytes.
struct Watchpoint {
    enum class On : std::uint8_t { read, write, change };
    Space space = Space::shared;  ///< or global
    std::uint64_t address = 0;    ///< an offset into shared memory, or a host address; of 4 bytes
    On on = On::write;            ///< an atomic reads and writes
    bool enabled = true;
};

struct Breaks {
    std::vector<Breakpoint> points;
    std::vector<Watchpoint> watches;
    bool any_enabled() const;
};

/// The instructions before which a breakpoint at the line stops, ascending: the line's first one in
/// each basic block. Not one that only continues the line: the instruction before it in the PTX has
/// this line too, and no later branch leads to it.
std::vector<std::uint32_t> line_starts(const Kernel& kernel, std::string_view file, int line);

/// Why a run has stopped.
struct Stop {
    enum class At : std::uint8_t { stop, end, start, interrupted };
    At at = At::end;
    // of At::stop:
    std::uint32_t warp = 0;
    unsigned lane = 0;  ///< one of the lanes concerned
    std::string why{};  ///< "Warp 3 writes word 12, kernels/ripple.cu:76."
};

/// Steps forward to the next position at which one of `breaks` stops, to the block's end or to
/// position `most`: through the known steps, then as the schedule says. A position stops if its
/// next step reaches a breakpoint, or if its newest step did what a watchpoint waits for. Runs for
/// the launch's time limit at most, and ends at the stop request: At::interrupted. Throws Error
/// for a condition that does not fit the kernel, where the kernel has the breakpoint's line.
Stop run_to(Stepper& stepper, const Breaks& breaks, std::uint64_t most = UINT64_MAX);
/// Steps back to the newest of these positions before the current one, or to the block's start.
/// After an interruption the stepper is where it was.
Stop run_back_to(Stepper& stepper, const Breaks& breaks);

}  // namespace warpscope::emulator
