#include "ui/tile/copies_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "emulator/async/async_copies.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::AsyncCopy;
using emulator::Mbarrier;

constexpr std::size_t most_rows = 4;

std::string words_of_barrier(const Mbarrier& barrier) {
    std::string words = fmt::format("byte {}: phase {}, {} of {} arrivals left", barrier.address,
                                    barrier.phase, barrier.pending, barrier.expected);
    if (barrier.bytes) words += fmt::format(", {} bytes outstanding", barrier.bytes);
    return words;
}

std::uint64_t bytes_of(const AsyncCopy& copy) {
    std::uint64_t bytes = 0;
    for (unsigned part = 0; part < copy.bytes.size(); ++part)
        if (copy.parts >> part & 1) bytes += copy.bytes[part];
    return bytes;
}

std::string words_of_copy(const Microscope& microscope, const AsyncCopy& copy) {
    const auto first = unsigned(std::countr_zero(copy.parts));
    return fmt::format(
        "{} bytes {} {}, warp {}, {}", bytes_of(copy), copy.to_shared ? "to byte" : "from byte",
        copy.to_shared ? copy.to[first] : copy.from[first], copy.warp, microscope.where(copy.pc));
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

/// The ring of a pipeline's stages: its full and empty barriers, in the order of their addresses.
void draw_barriers(Ui& ui, std::span<const Mbarrier> barriers) {
    std::vector<Mbarrier> ring(barriers.begin(), barriers.end());
    std::ranges::sort(ring, {}, &Mbarrier::address);
    const float radius = ui.px(11), step = 2 * radius + ui.px(5);
    for (std::size_t k = 0; k < ring.size(); ++k) {
        if (k > 0) ImGui::SameLine(0, ui.px(5));
        if (k > 0 && ImGui::GetContentRegionAvail().x < step) ImGui::NewLine();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::Dummy({2 * radius, 2 * radius});
        draw_barrier(ui, ring[k], {at.x + radius, at.y + radius}, radius);
        const std::string words = words_of_barrier(ring[k]);
        record(ui, fmt::format("tile.mbarrier.{}", k), words);
        tooltip(ui, words);
    }
}

}  // namespace

std::vector<std::size_t> words_in_flight(const emulator::Stepper& stepper) {
    std::vector<std::size_t> words;
    const std::size_t all = stepper.words().size();
    for (const AsyncCopy& copy : stepper.async().in_flight())
        for (unsigned part = 0; part < copy.to.size(); ++part) {
            if (!copy.to_shared || !(copy.parts >> part & 1)) continue;
            const std::size_t first = copy.to[part] / 4;
            for (std::size_t w = first; w < first + copy.bytes[part] / 4 && w < all; ++w)
                words.push_back(w);
        }
    return words;
}

void draw_copies(Ui& ui, Microscope& microscope) {
    const emulator::Stepper& stepper = microscope.stepper();
    if (!stepper.kernel().is_asynchronous) return;
    const auto copies = stepper.async().in_flight();
    const auto barriers = stepper.async().barriers();
    const std::string in_flight = copies.empty() ? "No asynchronous copy is in flight."
                                  : copies.size() == 1
                                      ? "blue: 1 copy in flight"
                                      : fmt::format("blue: {} copies in flight", copies.size());
    text(ui.fonts.small, copies.empty() ? colour::dim : in_flight_colour, in_flight);
    record(ui, "tile.copies", in_flight);
    for (std::size_t k = 0; k < std::min(copies.size(), most_rows); ++k) {
        const std::uint32_t number = copies[k].number;
        const std::string id = fmt::format("tile.land.{}", number);
        if (flat_button(ui, id, "Land"))
            ui.later([&microscope, number] { microscope.land(number); });
        tooltip(ui, "Writes now what this copy still has to write.");
        ImGui::SameLine(0, ui.px(8));
        clipped_text(ui.fonts.small, colour::dim, words_of_copy(microscope, copies[k]),
                     ImGui::GetContentRegionAvail().x);
    }
    if (copies.size() > most_rows)
        text(ui.fonts.small, colour::faint,
             fmt::format("and {} more copies", copies.size() - most_rows));
    if (!barriers.empty()) {
        text(ui.fonts.small, colour::text, "mbarriers: phase, arrivals, bytes");
        tooltip(
            ui,
            "Each disc is an mbarrier, in the order of the addresses. The number is that of its "
            "phase. The disc fills up as threads arrive. A blue edge: bytes are outstanding.");
    }
    draw_barriers(ui, barriers);
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace warpscope::ui
