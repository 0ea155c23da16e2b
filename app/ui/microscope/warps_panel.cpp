#include "ui/microscope/warps_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "compute/device/number_text.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::Kernel;
using emulator::SplitView;
using emulator::WarpView;
using State = SplitView::State;

int number_of(const Kernel& kernel, std::uint32_t pc) {
    if (pc >= kernel.lines.size()) return 0;
    const emulator::SourceLine& source = kernel.lines[pc].source;
    return source.file >= 0 ? source.line : source.ptx_line;
}

std::string line_of(const Kernel& kernel, std::uint32_t pc) {
    if (pc >= kernel.lines.size()) return tr("the end");
    return kernel.lines[pc].source.file >= 0 ? tr("line {}", number_of(kernel, pc))
                                             : tr("PTX line {}", number_of(kernel, pc));
}

/// The wait of a warp that can run and looks again and again whether it may go on.
std::optional<emulator::BarrierWait> look_of(const emulator::Stepper& stepper, std::uint32_t warp) {
    if (!stepper.kernel().is_asynchronous) return {};
    const std::uint64_t here = stepper.position();
    for (const emulator::BarrierWait& wait : stepper.waits())
        if (wait.warp == warp && wait.looks() && wait.from < here && here <= wait.to) return wait;
    return {};
}

std::string doing(const Kernel& kernel, const SplitView& split, bool whole) {
    const std::string line = line_of(kernel, split.pc);
    switch (split.state) {
        case State::running:
            return tr("at {}", line);
        case State::at_barrier:
            return whole ? tr("waits at the barrier, {}", line) : tr("waits, {}", line);
        case State::at_warp_sync:
            return whole ? tr("waits for its other lanes, {}", line) : tr("waits, {}", line);
        case State::at_join:
            return whole ? tr("waits to join, {}", line) : tr("waits, {}", line);
    }
    return line;
}

}  // namespace

std::string words_for(const emulator::BarrierWait& wait) {
    using At = emulator::BarrierWait::At;
    if (wait.at == At::cluster) return tr("for the barrier of the cluster");
    return wait.at == At::mbarrier ? tr("for the mbarrier at byte {}", wait.barrier)
                                   : tr("at the barrier");
}

std::string warp_words(const emulator::Stepper& stepper, std::uint32_t warp, bool whole) {
    const Kernel& kernel = stepper.kernel();
    const WarpView view = stepper.warp(warp);
    if (view.splits.empty()) return tr("has ended");
    if (const auto wait = look_of(stepper, warp))
        return tr("waits{}, {}", whole ? " " + words_for(*wait) : "", line_of(kernel, wait->pc));
    if (view.splits.size() == 1) return doing(kernel, view.splits.front(), whole);
    std::string words = tr("split: ");
    for (const SplitView& split : view.splits) {
        if (&split != &view.splits.front()) words += ", ";
        const auto lanes = unsigned(std::popcount(split.mask));
        words += whole ? fmt::format("{} {}", counted(lanes, "lane"), doing(kernel, split, whole))
                       : fmt::format("{}", number_of(kernel, split.pc));
    }
    return words;
}

bool can_run(const WarpView& view) {
    return std::any_of(view.splits.begin(), view.splits.end(),
                       [](const SplitView& split) { return split.state == State::running; });
}

namespace {

/// A lane, its thread and its state: "lane 5, thread (5, 6): waits at the barrier, line 68".
std::string lane_words(const Microscope& microscope, unsigned warp, unsigned lane) {
    const emulator::Stepper& stepper = microscope.stepper();
    const WarpView view = stepper.warp(warp);
    if (!(view.threads >> lane & 1)) return tr("lane {}: the block has no such thread", lane);
    const emulator::Dim3 thread = microscope.thread(warp, lane);
    std::string words = tr("lane {}, thread ({}, {})", lane, thread.x, thread.y);
    if (microscope.launch().block.y == 1) words = tr("lane {}, thread {}", lane, thread.x);
    for (const SplitView& split : view.splits)
        if (split.mask >> lane & 1) return words + ": " + doing(stepper.kernel(), split, true);
    return words + tr(": has ended");
}

using emulator::Stepper;

constexpr float least_row = 20, most_row = 26;

/// Places of the parts of a row, in layout units.
struct RowPlaces {
    ImVec2 low, high;
    float chip, words, lanes, lane, button;
};

RowPlaces places_in_row(Ui& ui, ImVec2 low, ImVec2 size) {
    RowPlaces at{};
    at.low = low;
    at.high = {low.x + size.x, low.y + size.y};
    at.chip = low.x + ui.px(14);
    at.words = at.chip + ui.px(29);
    at.button = at.high.x - ui.px(24);
    const float room = at.button - ui.px(8) - at.words - ui.px(64);  // beside "at line 47"
    at.lane = std::floor(std::clamp(std::min(size.x / 95, room / 32), ui.px(1), ui.px(5)));
    at.lanes = at.button - ui.px(8) - 32 * at.lane;
    return at;
}

ImU32 lane_colour(unsigned warp, const WarpView& view, unsigned lane) {
    if (!(view.threads >> lane & 1)) return colour::clear;
    if (view.exited >> lane & 1) return colour::raised;
    for (std::size_t s = 0; s < view.splits.size(); ++s) {
        if (!(view.splits[s].mask >> lane & 1)) continue;
        if (view.splits[s].state != SplitView::State::running)
            return faded(warp_colour(warp), 0.35F);
        // Lanes that run together have one colour, which differs from the next group's.
        return s % 2 == 0 ? warp_colour(warp) : IM_COL32(245, 247, 250, 255);
    }
    return colour::raised;
}

void lane_strip(Ui& ui, Microscope& microscope, unsigned warp, const WarpView& view,
                const RowPlaces& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float top = at.low.y + ui.px(5), bottom = at.high.y - ui.px(6);
    const float gap = at.lane >= ui.px(4) ? ui.px(1) : 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        const float x = at.lanes + at.lane * float(lane);
        list.AddRectFilled({x, top}, {x + at.lane - gap, bottom}, lane_colour(warp, view, lane));
    }
    if (warp == microscope.warp()) {
        const float x = at.lanes + at.lane * float(microscope.lane());
        list.AddRectFilled({x - ui.px(1), bottom + ui.px(1)},
                           {x + at.lane + ui.px(1), bottom + ui.px(4)}, colour::text);
    }
    ImGui::SetCursorScreenPos({at.lanes, at.low.y});
    const std::string id = fmt::format("warp.{}.lanes", warp);
    if (hit_area(id, {32 * at.lane, at.high.y - at.low.y})) {
        const float x = (ImGui::GetIO().MousePos.x - at.lanes) / at.lane;
        microscope.pick(warp, unsigned(std::clamp(x, 0.F, 31.F)));
    }
    record(ui, id, fmt::format("{}", std::popcount(view.threads & ~view.exited)));
    if (!ImGui::IsItemHovered()) return;
    const float x = (ImGui::GetIO().MousePos.x - at.lanes) / at.lane;
    const auto lane = unsigned(std::clamp(x, 0.F, 31.F));
    quick_tooltip(ui, lane_words(microscope, warp, lane) + tr("\nClick: pick this lane."));
}

void chip(Ui& ui, unsigned warp, const WarpView& view, const RowPlaces& at) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low{at.chip, at.low.y + ui.px(2)}, high{at.chip + ui.px(24), at.high.y - ui.px(2)};
    const bool alive = !view.splits.empty();
    list.AddRectFilled(low, high, alive ? warp_colour(warp) : colour::raised, ui.px(4));
    ImGui::PushFont(ui.fonts.mono_small);
    const std::string number = fmt::format("{}", warp);
    const ImVec2 size = ImGui::CalcTextSize(number.c_str());
    list.AddText(
        {std::round((low.x + high.x - size.x) / 2), std::round((low.y + high.y - size.y) / 2)},
        alive ? colour::background : colour::faint, number.c_str());
    ImGui::PopFont();
}

void step_button(Ui& ui, Microscope& microscope, unsigned warp, const WarpView& view,
                 const RowPlaces& at) {
    ImGui::SetCursorScreenPos({at.button, at.low.y + ui.px(1)});
    const bool can = can_run(view);
    const std::string id = fmt::format("warp.{}.step", warp);
    ImGui::BeginDisabled(!can);
    const ImVec2 size{ui.px(24), at.high.y - at.low.y - ui.px(2)};
    const bool clicked = hit_area(id, size);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::EndDisabled();
    record(ui, id, "", can);
    const ImVec2 c{at.button + size.x / 2, at.low.y + (at.high.y - at.low.y) / 2};
    const float r = ui.px(4.5F);
    if (hovered)
        ImGui::GetWindowDrawList()->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                                  colour::hovered, ui.px(4));
    ImGui::GetWindowDrawList()->AddTriangleFilled(
        {c.x - 0.7F * r, c.y - r}, {c.x + r, c.y}, {c.x - 0.7F * r, c.y + r},
        can ? (hovered ? colour::text : colour::dim) : faded(colour::faint, 0.35F));
    tooltip(ui, tr("Step warp {} only.", warp));
    if (clicked) microscope.step_warp(warp);
}

void row(Ui& ui, Microscope& microscope, unsigned warp, ImVec2 size, bool moved) {
    Microscope& m = microscope;
    const WarpView view = m.stepper().warp(warp);
    const RowPlaces at = places_in_row(ui, ImGui::GetCursorScreenPos(), size);
    const std::string words = warp_words(m.stepper(), warp, true);
    const std::string id = fmt::format("warp.{}", warp);
    const bool clicked = hit_area(id, {at.lanes - at.low.x, at.high.y - at.low.y});
    record(ui, id, words);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (warp == m.warp())
        list.AddRectFilled(at.low, at.high, colour::raised, ui.px(5));
    else if (ImGui::IsItemHovered())
        list.AddRectFilled(at.low, at.high, faded(colour::raised, 0.6F), ui.px(5));
    tooltip(ui, tr("Warp {}: {}.", warp, words));
    if (clicked) m.pick_warp(warp);
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        m.step_warp(warp);
    const bool acting = m.stepper().end() == Stepper::End::open && warp == m.acting_warp();
    // The warp that runs next stays in sight where there are many.
    if (acting && moved && !ImGui::IsRectVisible(at.low, at.high)) ImGui::SetScrollHereY(0.5F);
    if (acting) {
        list.AddTriangleFilled({at.low.x + ui.px(3), at.low.y + ui.px(7)},
                               {at.low.x + ui.px(10), (at.low.y + at.high.y) / 2},
                               {at.low.x + ui.px(3), at.high.y - ui.px(7)}, colour::text);
        record_rect(ui, at.low, {at.chip, at.high.y}, "warp.next", fmt::format("{}", warp));
    }
    chip(ui, warp, view, at);
    ImGui::PushFont(ui.fonts.small);
    const float room = at.lanes - at.words - ui.px(4);
    const bool fits = ImGui::CalcTextSize(words.c_str()).x <= room;
    ImGui::SetCursorScreenPos(
        {at.words, at.low.y + (at.high.y - at.low.y - ImGui::GetTextLineHeight()) / 2});
    ImGui::PopFont();
    clipped_text(ui.fonts.small, acting ? colour::text : colour::dim,
                 fits ? words : warp_words(m.stepper(), warp, false), room);
    lane_strip(ui, microscope, warp, view, at);
    step_button(ui, microscope, warp, view, at);
    ImGui::SetCursorScreenPos({at.low.x, at.high.y});
}

}  // namespace

void WarpsPanel::draw(Ui& ui) {
    text(ui.fonts.strong, colour::text, tr("Warps"));
    if (!microscope_.ready()) return;
    const Stepper& stepper = microscope_.stepper();
    const std::string epoch = tr("barriers passed: {}", stepper.epoch());
    ImGui::SameLine(0, ui.px(10));
    if (ImGui::CalcTextSize(epoch.c_str()).x > ImGui::GetContentRegionAvail().x) ImGui::NewLine();
    text(ui.fonts.small, colour::faint, epoch);
    record(ui, "microscope.epoch", fmt::format("{}", stepper.epoch()));
    const bool moved = drawn_version_ != microscope_.version();
    drawn_version_ = microscope_.version();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
    const float height = std::floor(
        std::clamp(ImGui::GetContentRegionAvail().y / float(std::max(1U, stepper.warps())),
                   ui.px(least_row), ui.px(most_row)));
    for (unsigned warp = 0; warp < stepper.warps(); ++warp)
        row(ui, microscope_, warp, {width, height}, moved && !microscope_.playing());
    ImGui::PopStyleVar();
}

namespace {

using emulator::RecentRegister;
using emulator::RegisterInfo;

constexpr float column_width = 178, row_height = 21;

/// The tooltip of a register: its bits as hexadecimal, unsigned, signed and floating-point number.
std::string all_readings(const RegisterInfo& reg, std::uint64_t bits) {
    if (reg.bits == 1) return fmt::format("{} = {}", reg.name, bits ? "true" : "false");
    std::string words = tr("{}, {} bits\nhex {:#x}\nunsigned {}", reg.name, reg.bits, bits, bits);
    if (reg.bits == 32)
        words += tr("\nsigned {}\nfloat {:.9g}", std::int32_t(bits),
                    double(std::bit_cast<float>(std::uint32_t(bits))));
    if (reg.bits == 64)
        words += tr("\nsigned {}\ndouble {:.17g}", std::int64_t(bits), std::bit_cast<double>(bits));
    return words;
}

/// The newest step that wrote one of the registers; the registers that it wrote are highlighted.
std::uint64_t newest_step(const std::vector<RecentRegister>& registers) {
    return registers.empty() ? 0 : registers.front().step;
}

void cell(Ui& ui, Microscope& microscope, const RegisterInfo& reg, bool fresh, ImVec2 low) {
    const Microscope& m = microscope;
    const std::uint64_t bits = m.stepper().value(reg, m.warp(), m.lane());
    const std::string value = emulator::register_text(reg, bits);
    const ImVec2 high{low.x + ui.px(column_width - 14), low.y + ui.px(row_height)};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (fresh) list.AddRectFilled(low, high, faded(warp_colour(m.warp()), 0.2F), ui.px(4));
    const float y = low.y + (high.y - low.y - ImGui::GetTextLineHeight()) / 2;
    list.AddText({low.x + ui.px(6), y}, colour::dim, reg.name.c_str());
    const float width = ImGui::CalcTextSize(value.c_str()).x;
    list.AddText({high.x - ui.px(6) - width, y}, fresh ? colour::text : colour::dim, value.c_str());
    record_rect(ui, low, high, "register." + reg.name, value);
    if (ImGui::IsMouseHoveringRect(low, high) && ImGui::IsWindowHovered())
        quick_tooltip(ui, all_readings(reg, bits));
}

void table(Ui& ui, Microscope& microscope, const std::vector<RecentRegister>& registers) {
    const emulator::Kernel& kernel = microscope.stepper().kernel();
    const ImVec2 low = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const auto rows = std::size_t(std::max(1.F, room.y / ui.px(row_height)));
    ImGui::PushFont(ui.fonts.mono_small);
    for (std::size_t i = 0; i < registers.size(); ++i) {
        const ImVec2 at{low.x + ui.px(column_width) * float(i / rows),
                        low.y + ui.px(row_height) * float(i % rows)};
        cell(ui, microscope, kernel.registers[registers[i].index],
             registers[i].step == newest_step(registers), at);
    }
    ImGui::PopFont();
}

}  // namespace

void RegistersPanel::draw(Ui& ui) {
    Microscope& m = microscope_;
    if (!m.ready()) return;
    const std::string words = tr("warp {}, {}", m.warp(), lane_words(m, m.warp(), m.lane()));
    text(ui.fonts.small, colour::dim, words);
    record(ui, "registers", words);
    ImGui::PushFont(ui.fonts.small);
    same_line_if_room(ui.px(12), ImGui::CalcTextSize(tr("newest first")).x);
    ImGui::PopFont();
    text(ui.fonts.small, colour::faint, tr("newest first"));
    tooltip(ui, tr("The registers of this lane, the last written first. Click a lane in the list "
                   "of warps to pick another."));
    if (writes_copy_ != m.copy()) {
        writes_copy_ = m.copy();
        writes_ = emulator::RegisterWrites(m.stepper().kernel());
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const auto columns = std::size_t(std::max(1.F, room.x / ui.px(column_width)));
    const auto rows = std::size_t(std::max(1.F, room.y / ui.px(row_height)));
    const auto registers =
        emulator::recent_registers(m.stepper(), writes_, m.warp(), m.lane(), columns * rows);
    if (registers.empty())
        return paragraph(ui.fonts.body, colour::faint,
                         tr("This lane has written no register yet."));
    table(ui, microscope_, registers);
}

}  // namespace warpscope::ui
