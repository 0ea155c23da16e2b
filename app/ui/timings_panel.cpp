#include <fmt/format.h>

#include "ui/format.h"
#include "ui/panels.h"
#include "ui/widgets.h"

namespace warpscope::ui {
namespace {

using compute::KernelTiming;

void number(Interface& ui, const std::string& words, ImU32 colour = colour::text) {
    ImGui::PushFont(ui.fonts.mono);
    const float width = ImGui::CalcTextSize(words.c_str()).x;
    const float room = ImGui::GetContentRegionAvail().x;
    if (room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
    ImGui::PopFont();
    text(ui.fonts.mono, colour, words);
}

void row(Interface& ui, const KernelTiming& kernel) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    clipped_text(ui.fonts.mono, colour::text, kernel.name, ImGui::GetContentRegionAvail().x);
    record(ui, "timing." + kernel.name, milliseconds(kernel.median_ms()));
    ImGui::TableNextColumn();
    number(ui, quantity(double(kernel.launches), ""), colour::dim);
    ImGui::TableNextColumn();
    number(ui, grid_by_block(kernel.grid, kernel.block), colour::dim);
    ImGui::TableNextColumn();
    number(ui, milliseconds(kernel.last_ms()), colour::dim);
    ImGui::TableNextColumn();
    number(ui, milliseconds(kernel.median_ms()));
    ImGui::TableNextColumn();
    number(ui, milliseconds(kernel.p99_ms()), colour::dim);
    ImGui::TableNextColumn();
    const std::string per_second = rate(kernel);
    number(ui, per_second.empty() ? "-" : per_second);
    ImGui::TableNextColumn();
    sparkline(ui, kernel.recent_ms, {ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()});
}

void table(Interface& ui) {
    constexpr auto flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX;
    if (!ImGui::BeginTable("kernels", 8, flags, ImGui::GetContentRegionAvail())) return;
    struct Column {
        const char* title;
        float width;  ///< 0: takes what is left
    };
    constexpr Column columns[] = {{"Kernel", 0},    {"Launches", 76}, {"Grid · block", 132},
                                  {"Last, ms", 72}, {"Median", 68},   {"99 %", 68},
                                  {"Rate", 122},    {"Recent", 110}};
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const Column& c : columns)
        ImGui::TableSetupColumn(
            c.title,
            c.width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
            c.width > 0 ? ui.px(c.width) : 1);
    ImGui::TableNextRow();
    for (const Column& c : columns) {
        ImGui::TableNextColumn();
        const bool left = c.width == 0 || c.width == 110;
        ImGui::PushFont(ui.fonts.small);
        const float free = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(c.title).x;
        if (!left && free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
        ImGui::PopFont();
        text(ui.fonts.small, colour::faint, c.title);
    }
    for (const KernelTiming& kernel : ui.stage.device().timings().kernels()) row(ui, kernel);
    ImGui::EndTable();
}

/// Frame time apart from kernel time: what is left is copying, drawing and waiting for vsync.
std::string frame_text(const Interface& ui) {
    if (ui.frame_ms <= 0) return {};
    if (ui.stage.paused()) return "paused";
    return fmt::format("window frame {} ms · {:.0f} frames/s", milliseconds(ui.frame_ms),
                       1000 / ui.frame_ms);
}

}  // namespace

void draw_timings(Interface& ui) {
    text(ui.fonts.small, colour::dim, "On " + ui.stage.device().info().name);
    if (ui.stage.device().info().kind == compute::DeviceKind::emulator) {
        ImGui::SameLine(0, ui.px(10));
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.px(2));
        badge(ui, "emulated", colour::finding);
        record(ui, "timings.emulated", "emulated");
    }
    const std::string frame = frame_text(ui);
    if (!frame.empty()) {
        ImGui::SameLine();
        number(ui, frame, colour::dim);
        record(ui, "timings.frame", frame);
    }
    table(ui);
}

}  // namespace warpscope::ui
