#include "ui/tile/copies_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

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

void more(Ui& ui, std::size_t all, const char* what) {
    if (all <= most_rows) return;
    text(ui.fonts.small, colour::faint, fmt::format("and {} more {}", all - most_rows, what));
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
    more(ui, copies.size(), "copies");
    if (!barriers.empty()) text(ui.fonts.small, colour::text, "mbarriers");
    for (std::size_t k = 0; k < std::min(barriers.size(), most_rows); ++k) {
        const std::string words = words_of_barrier(barriers[k]);
        clipped_text(ui.fonts.small, colour::dim, words, ImGui::GetContentRegionAvail().x);
        record(ui, fmt::format("tile.mbarrier.{}", k), words);
    }
    more(ui, barriers.size(), "mbarriers");
    ImGui::Dummy({0, ui.px(2)});
}

}  // namespace warpscope::ui
