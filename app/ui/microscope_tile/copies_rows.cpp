#include "ui/microscope_tile/copies_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "emulator/async/async_copies.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::AsyncCopy;
using emulator::CopyFlight;
using emulator::Mbarrier;
using emulator::WordView;

constexpr std::size_t most_rows = 2;

std::string words_of_barrier(const Mbarrier& barrier) {
    std::string words = tr("byte {}: phase {}, {} of {} arrivals left", barrier.address,
                           barrier.phase, barrier.pending, barrier.expected);
    if (barrier.bytes) words += tr(", {} bytes outstanding", barrier.bytes);
    return words;
}

std::string words_of_copy(const Microscope& microscope, const AsyncCopy& copy) {
    const auto first = unsigned(std::countr_zero(copy.parts));
    return tr("{} bytes {} {}, warp {}, {}", copy.bytes_of(copy.parts),
              copy.to_shared ? tr("to byte") : tr("from byte"),
              copy.to_shared ? copy.to[first] : copy.from[first], copy.warp,
              microscope.where(copy.pc));
}

/// A disc with the number of the phase. It fills up as threads arrive, and has a blue edge while
/// bytes of copies are outstanding.
void draw_barrier(Ui& ui, const Mbarrier& barrier, ImVec2 centre, float radius) {
    constexpr float top = -1.5707964F, turn = 6.2831853F;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled(centre, radius, colour::raised);
    const float arrived =
        1 - float(barrier.pending) / float(std::max<std::uint32_t>(barrier.expected, 1));
    if (arrived > 0) {
        list.PathLineTo(centre);
        list.PathArcTo(centre, radius, top, top + turn * arrived);
        list.PathFillConvex(colour::accent_deep);
    }
    list.AddCircle(centre, radius, barrier.bytes ? in_flight_colour : colour::dim, 0,
                   ui.px(barrier.bytes ? 2.5F : 1));
    const std::string phase = std::to_string(barrier.phase);
    ImGui::PushFont(ui.fonts.small);
    const ImVec2 size = ImGui::CalcTextSize(phase.c_str());
    list.AddText({centre.x - size.x / 2, centre.y - size.y / 2}, colour::text, phase.c_str());
    ImGui::PopFont();
}

/// Below a disc: the outstanding bytes, or else how many of the arrivals have come: "4.1k", "3/8".
std::string caption_of(const Mbarrier& barrier) {
    if (barrier.bytes > -1000 && barrier.bytes < 1000 && barrier.bytes)
        return std::to_string(barrier.bytes);
    if (barrier.bytes) return si(double(barrier.bytes));
    return fmt::format("{}/{}", barrier.expected - std::min(barrier.pending, barrier.expected),
                       barrier.expected);
}

/// The ring of a pipeline's stages: its full and empty barriers, in the order of their addresses.
void draw_barriers(Ui& ui, std::span<const Mbarrier> barriers) {
    std::vector<Mbarrier> ring(barriers.begin(), barriers.end());
    std::ranges::sort(ring, {}, &Mbarrier::address);
    const float radius = ui.px(11);
    float step = 2 * radius;
    ImGui::PushFont(ui.fonts.small);
    const float line = ImGui::GetTextLineHeight();
    for (const Mbarrier& barrier : ring)
        step = std::max(step, ImGui::CalcTextSize(caption_of(barrier).c_str()).x);
    ImGui::PopFont();
    step += ui.px(6);
    for (std::size_t k = 0; k < ring.size(); ++k) {
        if (k > 0) ImGui::SameLine(0, 0);
        if (k > 0 && ImGui::GetContentRegionAvail().x < step) ImGui::NewLine();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::Dummy({step, 2 * radius + line});
        draw_barrier(ui, ring[k], {at.x + step / 2, at.y + radius}, radius);
        const std::string caption = caption_of(ring[k]);
        ImGui::PushFont(ui.fonts.small);
        const float wide = ImGui::CalcTextSize(caption.c_str()).x;
        ImGui::GetWindowDrawList()->AddText({at.x + (step - wide) / 2, at.y + 2 * radius},
                                            ring[k].bytes ? in_flight_colour : colour::dim,
                                            caption.c_str());
        ImGui::PopFont();
        const std::string words = words_of_barrier(ring[k]);
        record(ui, fmt::format("tile.mbarrier.{}", k), words);
        tooltip(ui, words);
    }
}

}  // namespace

std::string name_of(const CopyFlight& copy) {
    if (copy.completion != emulator::Completion::mbarrier)
        return tr("{}group {}",
                  copy.completion == emulator::Completion::bulk_group ? tr("bulk ") : "",
                  copy.group);
    const bool elsewhere = copy.rank < 0 && copy.mbarrier_rank >= 0;
    return tr("mbarrier at byte {}{}, phase {}", copy.mbarrier,
              elsewhere ? tr(" of block {}", copy.mbarrier_rank) : "", copy.phase);
}

std::string words_of_copy_to(const Microscope& microscope, const WordView& word) {
    if (word.copy == WordView::Copy::none) return {};
    const auto copies = microscope.stepper().copies();
    const auto copy = std::find_if(copies.begin(), copies.end(), [&](const CopyFlight& c) {
        return c.rank == word.copy_rank && c.number == word.copy_number;
    });
    if (copy == copies.end()) return {};
    if (word.copy == WordView::Copy::landed)
        return tr("landed: a copy of {} bytes, {}", copy->bytes, name_of(*copy));
    return tr("in flight: {} bytes, started by warp {}{}{} at {}, {}", copy->bytes, copy->warp,
              copy->lane < 0 ? "" : tr(", lane {},", copy->lane),
              copy->rank < 0 ? "" : tr(" of block {} of the cluster", copy->rank),
              microscope.where(copy->pc), name_of(*copy));
}

void draw_copies(Ui& ui, Microscope& microscope) {
    const emulator::Stepper& stepper = microscope.stepper();
    if (!stepper.kernel().is_asynchronous) return;
    const auto copies = stepper.async().in_flight();
    const auto barriers = stepper.async().barriers();
    const std::string in_flight = copies.empty() ? tr("No asynchronous copy is in flight.")
                                  : copies.size() == 1
                                      ? tr("blue: 1 copy in flight")
                                      : tr("blue: {} copies in flight", copies.size());
    text(ui.fonts.small, copies.empty() ? colour::dim : in_flight_colour, in_flight);
    record(ui, "tile.copies", in_flight);
    for (std::size_t k = 0; k < std::min(copies.size(), most_rows); ++k) {
        const std::uint32_t number = copies[k].number;
        const std::string id = fmt::format("tile.land.{}", number);
        if (flat_button(ui, id, tr("Land")))
            ui.later([&microscope, number] { microscope.land(number); });
        tooltip(ui, tr("Writes now what this copy still has to write."));
        ImGui::SameLine(0, ui.px(8));
        clipped_text(ui.fonts.small, colour::dim, words_of_copy(microscope, copies[k]),
                     ImGui::GetContentRegionAvail().x);
    }
    if (copies.size() > most_rows)
        text(ui.fonts.small, colour::faint, tr("and {} more copies", copies.size() - most_rows));
    if (!barriers.empty()) {
        text(ui.fonts.small, colour::text, tr("mbarriers: phase, arrivals, bytes"));
        tooltip(
            ui,
            tr("Each disc is an mbarrier, in the order of the addresses. The number is that of its "
               "phase. The disc fills up as threads arrive. A blue edge: bytes are outstanding. "
               "Below it: the outstanding bytes, or how many of the arrivals have come."));
    }
    draw_barriers(ui, barriers);
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace warpscope::ui
