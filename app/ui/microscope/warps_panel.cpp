#include "ui/microscope/warps_panel.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "ui/language/language.h"
#include "ui/microscope/warp_words.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using emulator::SplitView;
using emulator::Stepper;
using emulator::WarpView;

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

}  // namespace warpscope::ui
