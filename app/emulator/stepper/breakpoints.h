#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program/module.h"
#include "emulator/stepper/stepper.h"

namespace warpscope::emulator {

/// Stops before a warp executes a source line: see line_starts().
struct Breakpoint {
    std::string file{};  ///< a name of Module::files(); empty: `line` is a line of the PTX
    int line = 0;        ///< from 1
    std::optional<std::uint32_t> warp{};  ///< stops only this warp
    /// Stops only if it is among the lanes that reach the line.
    std::optional<unsigned> lane{};
    std::string condition{};  ///< the words of what is asked; empty: nothing is
    bool enabled = true;
    /// Stops only if this holds in one of the lanes; null: it does.
    std::function<bool(std::uint32_t warp, unsigned lane)> asks{};
};

/// Stops after a step that accesses a word of 4 bytes.
struct Watchpoint {
    enum class On : std::uint8_t { read, write, change };
    Space space = Space::shared;  ///< shared or global
    std::uint64_t address = 0;    ///< an offset into shared memory, or a host address; of 4 bytes
    On on = On::write;            ///< an atomic reads and writes
    bool enabled = true;
};

/// Why a run has stopped.
struct Stop {
    enum class At : std::uint8_t { stop, end, start, interrupted };
    At at = At::end;
    // For At::stop, the warp that has stopped:
    std::uint32_t warp = 0;
    unsigned lane = 0;      ///< one of the lanes concerned
    files::Sentence why{};  ///< "Warp 3 writes word 12, kernels/ripple.cu:76."
};

struct Breaks {
    std::vector<Breakpoint> points;
    std::vector<Watchpoint> watches;
    /// Asked after each step forward, behind the others; null: nothing else stops.
    std::function<std::optional<Stop>()> asks{};
    bool any_enabled() const;
};

/// Returns the instructions before which a breakpoint at the line stops, ascending: the line's
/// first one in each basic block. An instruction that only continues the line is left out: the
/// instruction before it in the PTX has this line too, and no later branch leads to it.
std::vector<std::uint32_t> line_starts(const Kernel& kernel, std::string_view file, int line);

/// Steps forward to the next position at which one of `breaks` stops, to the block's end or to
/// position `most`. It repeats the known steps and then follows the schedule. A position stops if
/// its next step reaches a breakpoint, or if its newest step did what a watchpoint waits for. Runs
/// for the launch's time limit at most, and ends at the stop request: At::interrupted. Throws what
/// Breakpoint::asks throws.
Stop run_to(Stepper& stepper, const Breaks& breaks, std::uint64_t most = UINT64_MAX);
/// Steps back to the newest of these positions before the current one, or to the block's start.
/// After an interruption the stepper is at its former position.
Stop run_back_to(Stepper& stepper, const Breaks& breaks);

}  // namespace warpscope::emulator
