#include "ui/timeline/warp_lanes.h"

#include <algorithm>
#include <utility>

namespace warpscope::ui {
namespace {

using emulator::BarrierWait;
using emulator::MemoryAccess;
using emulator::Step;

/// Steps of one warp within one column.
struct Count {
    std::uint32_t computing = 0, writing = 0, reading = 0;
    std::uint32_t all() const { return computing + writing + reading; }
};

/// Returns the activity of each instruction, by pc.
std::vector<LaneCell> kinds_of(const emulator::Kernel& kernel) {
    std::vector<LaneCell> kinds(kernel.lines.size(), LaneCell::computing);
    for (std::size_t pc = 0; pc < kinds.size(); ++pc) {
        const emulator::InstructionInfo& info = kernel.lines[pc];
        const bool shared =
            info.space == emulator::Space::shared || info.space == emulator::Space::generic;
        if (info.access == MemoryAccess::none || !shared) continue;
        kinds[pc] = info.access == MemoryAccess::load ? LaneCell::reading : LaneCell::writing;
    }
    return kinds;
}

LaneCell dominant(const Count& count) {
    if (count.writing > 0) return LaneCell::writing;
    if (count.reading * 4 >= count.all()) return LaneCell::reading;
    return LaneCell::computing;
}

/// The first step of a warp and the end of its last step or wait.
struct Life {
    std::uint64_t from = UINT64_MAX, to = 0;
};

std::vector<Life> lives(std::span<const Step> history, std::span<const BarrierWait> waits,
                        unsigned warps) {
    std::vector<Life> life(warps);
    for (std::uint64_t i = 0; i < history.size(); ++i) {
        if (history[i].warp >= warps) continue;
        Life& l = life[history[i].warp];
        l.from = std::min(l.from, i);
        l.to = i + 1;
    }
    for (const BarrierWait& w : waits)
        if (w.warp < warps) life[w.warp].to = std::max(life[w.warp].to, w.to);
    return life;
}

/// The steps that each column stands for: [begin, end).
struct Columns {
    StepRange range;
    std::uint64_t count;
    std::uint64_t begin(std::uint64_t column) const {
        return range.first + column * range.count / count;
    }
    std::uint64_t past() const { return range.first + range.count; }
    std::uint64_t end(std::uint64_t column) const {
        return std::max(begin(column) + 1, begin(column + 1));
    }
};

/// Adds, for each column, the steps that a wait takes.
void add_wait(const BarrierWait& wait, const Columns& columns, std::uint32_t* covered) {
    // The wait begins after the step that brings the lanes to the barrier.
    const auto& [first, steps] = columns.range;
    const std::uint64_t from = std::clamp(wait.from + 1, first, columns.past());
    const std::uint64_t to = std::clamp(wait.to, first, columns.past());
    for (std::uint64_t c = (from - first) * columns.count / steps; c < columns.count; ++c) {
        const std::uint64_t begin = std::max(columns.begin(c), from);
        if (columns.begin(c) >= to) return;
        const std::uint64_t end = std::min(columns.end(c), to);
        if (end > begin) covered[c] += std::uint32_t(end - begin);
    }
}

/// Tells whether a step only looks again for what its warp waits for. Must be asked in ascending
/// order.
class Looks {
  public:
    Looks(std::span<const BarrierWait> waits, unsigned warps) : waits_(waits), until_(warps) {}
    bool has(std::uint64_t step, unsigned warp) {
        for (; next_ < waits_.size() && waits_[next_].from < step; ++next_) {
            const BarrierWait& wait = waits_[next_];
            if (!wait.looks() || wait.warp >= until_.size()) continue;
            until_[wait.warp] = std::max(until_[wait.warp], wait.to);
        }
        return step < until_[warp];
    }

  private:
    std::span<const BarrierWait> waits_;
    std::size_t next_ = 0;
    std::vector<std::uint64_t> until_;  ///< by warp: the end of the waits that have begun
};

void add_steps(std::span<const Step> history, std::span<const BarrierWait> waits,
               const Columns& columns, const std::vector<LaneCell>& kinds, unsigned warps,
               std::vector<Count>& counts) {
    Looks looks(waits, warps);
    for (std::uint64_t c = 0; c < columns.count; ++c)
        for (std::uint64_t i = columns.begin(c); i < columns.end(c); ++i) {
            const Step& step = history[i];
            if (step.warp >= warps || step.pc >= kinds.size()) continue;
            if (looks.has(i, step.warp)) continue;
            Count& count = counts[step.warp * columns.count + c];
            const LaneCell kind = kinds[step.pc];
            ++(kind == LaneCell::writing   ? count.writing
               : kind == LaneCell::reading ? count.reading
                                           : count.computing);
        }
}

}  // namespace

experiments::Timeline timeline_of(const emulator::Stepper& stepper, std::string title) {
    using Activity = experiments::Timeline::Activity;
    const auto history = stepper.history();
    experiments::Timeline timeline{
        std::move(title), "instructions", stepper.warps(), double(history.size()), {}};
    const std::vector<LaneCell> kinds = kinds_of(stepper.kernel());
    const auto activity_of = [&](const Step& step) {
        const LaneCell kind = step.pc < kinds.size() ? kinds[step.pc] : LaneCell::computing;
        return kind == LaneCell::writing   ? Activity::writing
               : kind == LaneCell::reading ? Activity::reading
                                           : Activity::computing;
    };
    for (std::size_t i = 0, end = 0; i < history.size(); i = end) {
        const Activity activity = activity_of(history[i]);
        for (end = i; end < history.size() && history[end].warp == history[i].warp &&
                      activity_of(history[end]) == activity;)
            ++end;
        timeline.spans.push_back({history[i].warp, activity, double(i), double(end),
                                  stepper.kernel().where(history[i].pc)});
    }
    for (const BarrierWait& wait : stepper.waits()) {
        // The wait begins after the step that brings the lanes to the barrier; the last warp that
        // arrives does not wait.
        const std::uint64_t to = std::min<std::uint64_t>(wait.to, history.size());
        if (wait.from + 1 < to)
            timeline.spans.push_back({wait.warp, Activity::waiting, double(wait.from + 1),
                                      double(to), stepper.kernel().where(wait.pc)});
    }
    return timeline;
}

WarpLanes warp_lanes(const emulator::Kernel& kernel, std::span<const Step> history,
                     std::span<const BarrierWait> waits, unsigned warps, unsigned width,
                     StepRange range) {
    if (range.count == 0) range = {0, history.size()};
    WarpLanes lanes{warps, width, history.size(), range, {}};
    lanes.cells.assign(std::size_t(warps) * width, LaneCell::over);
    if (range.count == 0 || width == 0) return lanes;
    const Columns columns{range, width};
    std::vector<Count> counts(lanes.cells.size());
    std::vector<std::uint32_t> covered(lanes.cells.size());
    add_steps(history, waits, columns, kinds_of(kernel), warps, counts);
    for (const BarrierWait& wait : waits)
        if (wait.warp < warps) add_wait(wait, columns, &covered[std::size_t(wait.warp) * width]);
    const std::vector<Life> life = lives(history, waits, warps);
    for (std::size_t i = 0; i < lanes.cells.size(); ++i) {
        const Life& own = life[i / width];
        const std::uint64_t begin = columns.begin(i % width), end = columns.end(i % width);
        const std::uint64_t steps = end - begin, waited = covered[i];
        // If only some lanes of a warp wait, the steps of its other lanes count for more.
        const bool waits_here = waited * 2 >= steps && counts[i].all() + waited <= steps;
        lanes.cells[i] = waits_here                         ? LaneCell::waiting
                         : counts[i].all() > 0              ? dominant(counts[i])
                         : end > own.from && begin < own.to ? LaneCell::ready
                                                            : LaneCell::over;
    }
    return lanes;
}

}  // namespace warpscope::ui
