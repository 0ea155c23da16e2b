#include "ui/timeline/copy_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "emulator/machine/block_errors.h"
#include "ui/language/language.h"
#include "ui/microscope_tile/copies_rows.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
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
