#include "ui/timeline/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "emulator/machine/block_errors.h"
#include "ui/language/language.h"
#include "ui/microscope_tile/copies_rows.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

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

TimeRange inside(const TimeRange& range, double whole) {
    if (range.count <= 0 || range.count >= whole) return {0, whole};
    return {std::clamp(range.first, 0.0, whole - range.count), range.count};
}

TimeRange zoomed(const TimeRange& range, double fixed, double factor, double least, double whole) {
    const double count = std::max(range.count * factor, least);
    const double share = range.count > 0 ? (fixed - range.first) / range.count : 0;
    return inside({fixed - share * count, count}, whole);
}

void move_by_mouse(TimeRange& range, const Strip& strip, double least, double whole) {
    if (strip.width() <= 0) return;
    const ImGuiIO& io = ImGui::GetIO();
    const TimeRange shown = inside(range, whole);
    const double unit = shown.count / double(strip.width());
    const double x = std::clamp(double(io.MousePos.x - strip.low.x), 0.0, double(strip.width()));
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        range = {};
    else if (ImGui::IsItemHovered() && io.MouseWheel != 0)
        range = zoomed(shown, shown.first + x * unit, std::pow(0.8, double(io.MouseWheel)), least,
                       whole);
    else if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Right))
        range = inside({shown.first - double(io.MouseDelta.x) * unit, shown.count}, whole);
    if (range.count >= whole) range = {};  // all of it, also when it becomes longer
}

namespace {

using emulator::BlockMark;
using emulator::Completion;
using emulator::CopyFlight;

/// Copies with one key are one bar.
auto key_of(const CopyFlight& copy) {
    const bool counted = copy.completion == Completion::mbarrier;
    return std::tuple(copy.rank, copy.completion, counted ? copy.mbarrier_rank : 0,
                      counted ? copy.mbarrier : copy.group, counted ? copy.phase : 0,
                      copy.to_shared);
}

/// "warps 0-3, 7"
std::string names_of_warps(std::uint32_t warps) {
    const std::string names = emulator::warp_ranges(warps);
    return (warps & (warps - 1)) ? tr("warps {}", names) : tr("warp {}", names);
}

constexpr ImU32 mark_colour = IM_COL32(244, 214, 110, 255);

}  // namespace

std::vector<CopyBar> copy_bars(std::span<const CopyFlight> copies, unsigned rows) {
    std::vector<CopyBar> bars;
    std::map<decltype(key_of(copies[0])), std::size_t> known;
    for (const CopyFlight& copy : copies) {
        const auto [found, is_new] = known.try_emplace(key_of(copy), bars.size());
        // Copies that no thread commits have one group number for ever.
        if (is_new || copy.from > bars[found->second].first.to) {
            found->second = bars.size();
            bars.push_back({copy});
        }
        CopyBar& bar = bars[found->second];
        ++bar.count;
        bar.bytes += copy.bytes;
        bar.warps |= 1u << copy.warp;
        bar.first.to = std::max(bar.first.to, copy.to);
    }
    std::vector<std::uint64_t> ends;
    for (CopyBar& bar : bars) {
        while (bar.row < ends.size() && ends[bar.row] > bar.first.from) ++bar.row;
        bar.row = std::min(bar.row, std::max(1u, rows) - 1);
        if (bar.row == ends.size()) ends.push_back(0);
        ends[bar.row] = std::max(ends[bar.row], bar.first.to);
    }
    return bars;
}

unsigned rows_of(std::span<const CopyBar> bars) {
    unsigned rows = 0;
    for (const CopyBar& bar : bars) rows = std::max(rows, bar.row + 1);
    return rows;
}

std::string words_of(const CopyBar& bar, std::uint64_t steps) {
    const CopyFlight& first = bar.first;
    std::string words = tr("{}\n{} {}{} of {}{}: {}, {}\nin flight from step {}", name_of(first),
                           bar.count, first.lane < 0 ? "" : tr("bulk "),
                           bar.count > 1 ? tr("copies") : tr("copy"), names_of_warps(bar.warps),
                           first.rank < 0 ? "" : tr(" of block {} of the cluster", first.rank),
                           counted(bar.bytes, "byte"),
                           first.to_stepped  ? tr("to shared memory")
                           : first.to_shared ? tr("to the shared memory of another block")
                                             : tr("to global memory"),
                           first.from + 1);
    return words + (first.to < steps ? tr(" to step {}", first.to + 1) : tr(", not landed"));
}

std::string words_of(const BlockMark& mark) {
    switch (mark.kind) {
        case BlockMark::arrival_from_other:
            return tr(
                "step {}: thread {} of block {} of the cluster arrives at the mbarrier at byte {}, "
                "phase {}",
                mark.step + 1, mark.thread, mark.rank, mark.mbarrier, mark.phase);
        case BlockMark::arrival_at_other:
            return tr(
                "step {}: thread {} arrives at the mbarrier at byte {} of block {} of the cluster, "
                "phase {}",
                mark.step + 1, mark.thread, mark.mbarrier, mark.rank, mark.phase);
        case BlockMark::cluster_phase:
            return tr("step {}: all threads have arrived at the barrier of the cluster (phase {})",
                      mark.step + 1, mark.phase);
    }
    return {};
}

std::string draw_copy_bars(Ui& ui, std::span<const CopyBar> bars, std::span<const BlockMark> marks,
                           const Strip& strip, StepRange range, std::uint64_t steps) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool hovered = ImGui::IsWindowHovered();
    const float unit = range.count ? strip.width() / float(range.count) : 0;
    const auto x_of = [&](std::uint64_t step) {
        const double x = (double(step) - double(range.first)) * double(unit);
        return strip.low.x + float(std::clamp(x, -1.0, double(strip.width()) + 1));
    };
    std::string hint;
    ImGui::PushFont(ui.fonts.small);
    for (const CopyBar& bar : bars) {
        const float from = std::max(x_of(bar.first.from), strip.low.x);
        const float to = std::min(std::max(x_of(bar.first.to), from + 2), strip.high.x);
        if (from > strip.high.x || x_of(bar.first.to) < strip.low.x) continue;
        const float y = strip.high.y + ui.px(4) + ui.px(copy_row) * float(bar.row);
        const ImVec2 low{from, y}, high{to, y + ui.px(copy_row - 2)};
        // A copy that has been issued is lighter than its issuing warp's work, and framed.
        list.AddRectFilled(low, high, faded(in_flight_colour, 0.45F), ui.px(2));
        list.AddRect(low, high, in_flight_colour, ui.px(2));
        if (hovered && mouse.x >= low.x && mouse.x < high.x && mouse.y >= low.y &&
            mouse.y < y + ui.px(copy_row))
            hint = words_of(bar, steps);
    }
    ImGui::PopFont();
    for (const BlockMark& mark : marks) {
        const float x = x_of(mark.step + 1), r = ui.px(4);
        if (x < strip.low.x || x > strip.high.x) continue;
        const float y = strip.low.y - ui.px(1);
        if (mark.kind == BlockMark::cluster_phase)
            list.AddLine({x, strip.low.y}, {x, strip.high.y}, mark_colour, ui.px(1));
        list.AddQuadFilled({x - r, y}, {x, y - r}, {x + r, y}, {x, y + r}, mark_colour);
        if (hovered && std::abs(mouse.x - x) <= r && std::abs(mouse.y - y) <= r + 1)
            hint = words_of(mark);
    }
    const float bottom = strip.high.y + ui.px(4) + ui.px(copy_row) * float(rows_of(bars));
    if (!bars.empty())
        record_rect(ui, {strip.low.x, strip.high.y}, {strip.high.x, bottom}, "timeline.copies",
                    std::to_string(bars.size()));
    if (!marks.empty())
        record_rect(ui, {strip.low.x, strip.low.y - ui.px(5)}, {strip.high.x, strip.low.y},
                    "timeline.marks", std::to_string(marks.size()));
    return hint;
}

}  // namespace warpscope::ui
