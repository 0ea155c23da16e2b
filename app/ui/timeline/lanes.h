#pragma once

#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/stepper/stepper.h"
#include "experiments/framework/report.h"
#include "ui/widgets/ui.h"

namespace warpscope::ui {

/// The activity of a warp in one pixel column of the timeline.
enum class LaneCell : std::uint8_t {
    over,   ///< before its first or after its last instruction
    ready,  ///< able to run, but other warps are running
    computing,
    writing,  ///< writes shared memory; atomics count as writes
    reading,  ///< reads shared memory
    waiting   ///< at a barrier
};

/// Steps that follow each other.
struct StepRange {
    std::uint64_t first = 0, count = 0;
    bool operator==(const StepRange&) const = default;
};

/// The steps of a block as pixel columns: a lane for each warp.
struct WarpLanes {
    unsigned warps = 0, columns = 0;
    std::uint64_t steps = 0;      ///< of the whole block
    StepRange range{};            ///< that all columns together stand for
    std::vector<LaneCell> cells;  ///< index: warp * columns + column
    LaneCell at(unsigned warp, unsigned column) const { return cells[warp * columns + column]; }
};

/// Computes the lanes of a range of the steps; an empty one stands for all. Each column stands for
/// range.count / columns steps, which may be less than one. If a warp has several activities in a
/// column, one is shown: waiting, if it takes at least half of the column; otherwise writing, if
/// there is any write; otherwise reading, if at least a quarter of the warp's steps read; otherwise
/// computing. Rare activities come first so that they stay visible.
WarpLanes warp_lanes(const emulator::Kernel& kernel, std::span<const emulator::Step> history,
                     std::span<const emulator::BarrierWait> waits, unsigned warps, unsigned columns,
                     StepRange range = {});

/// Every step and wait of the block as spans of a timeline, in steps. Steps of a warp that follow
/// each other and do the same are one span.
experiments::Timeline timeline_of(const emulator::Stepper& stepper, std::string title);

/// The place of one block's lanes on a timeline, a lane for each warp.
struct Strip {
    ImVec2 low, high;  ///< corners of the lanes, right of the warps' numbers
    float pitch;       ///< from one lane to the next
    float y(unsigned warp) const { return low.y + pitch * float(warp); }
    float width() const { return high.x - low.x; }
};

/// The part of a timeline that is on show, in steps or in the unit of a measured timeline.
struct TimeRange {
    double first = 0, count = 0;  ///< none: all of it
    bool operator==(const TimeRange&) const = default;
    double end() const { return first + count; }
};

/// The range inside a timeline that is `whole` long; one that is longer, or none, is all of it.
TimeRange inside(const TimeRange& range, double whole);
/// The range that has `factor` times the length, at least `least`, with `fixed` at its place.
TimeRange zoomed(const TimeRange& range, double fixed, double factor, double least, double whole);

/// Call it behind the item of a strip. The wheel zooms, a drag with the right button moves along
/// the timeline, and a double click shows all of it.
void move_by_mouse(TimeRange& range, const Strip& strip, double least, double whole);

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
