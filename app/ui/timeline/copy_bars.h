#pragma once

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "ui/timeline/strip.h"
#include "ui/timeline/warp_lanes.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// Asynchronous copies that threads wait for together, as a bar of the timeline: those of one
/// group, of all warps, or those that one phase of an mbarrier counts. While a bar lasts, one of
/// them is in flight.
struct CopyBar {
    emulator::CopyFlight first;  ///< the first copy; `from` and `to` span all of them
    std::size_t count = 0;       ///< of copies
    std::uint64_t bytes = 0;     ///< of all copies
    std::uint32_t warps = 0;     ///< that have started them, a bit each
    unsigned row = 0;            ///< bars of a row do not overlap, but for the last row
};

/// Joins copies to bars in at most `rows` rows, in the order of their beginning.
std::vector<CopyBar> copy_bars(std::span<const emulator::CopyFlight> copies, unsigned rows);
/// How many rows the bars have.
unsigned rows_of(std::span<const CopyBar> bars);

/// The hint of a bar: who has started which copies, and when they have landed.
std::string words_of(const CopyBar& bar, std::uint64_t steps);
std::string words_of(const emulator::BlockMark& mark);

inline constexpr float copy_row = 9;  ///< height of a row of bars, in layout units

/// Draws the bars of the steps in `range` below the lanes, and the moments of the cluster over the
/// lanes. Returns the hint of what is under the mouse; empty: nothing.
std::string draw_copy_bars(Ui& ui, std::span<const CopyBar> bars,
                           std::span<const emulator::BlockMark> marks, const Strip& strip,
                           StepRange range, std::uint64_t steps);

}  // namespace warpscope::ui
