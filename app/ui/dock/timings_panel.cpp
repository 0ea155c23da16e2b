#include "ui/dock/timings_panel.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "compute/shares.h"
#include "ui/dock/roofline.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using compute::Ceilings;
using compute::KernelTiming;

void number(Ui& ui, const std::string& words, ImU32 colour = colour::text) {
    ImGui::PushFont(ui.fonts.mono);
    const float width = ImGui::CalcTextSize(words.c_str()).x;
    const float room = ImGui::GetContentRegionAvail().x;
    if (room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
    ImGui::PopFont();
    text(ui.fonts.mono, colour, words);
}

/// The larger of the shares of the ceilings; a tooltip has both.
void share_cell(Ui& ui, const KernelTiming& kernel, const Ceilings* ceilings) {
    const auto shares = ceilings ? compute::shares_of(kernel, *ceilings) : compute::Shares{};
    const bool memory = shares.of_bandwidth >= shares.of_fp32;
    const bool known = shares.larger() > 0;
    number(
        ui,
        known ? fmt::format("{:.3g} % {}", 100 * shares.larger(), memory ? "copy" : "FP32") : "-",
        known ? colour::text : colour::faint);
    record(ui, "timing." + kernel.name + ".share", fmt::format("{:.4f}", shares.larger()));
    if (known && ImGui::IsItemHovered()) quick_tooltip(ui, roofline_words(kernel, *ceilings));
}

void row(Ui& ui, const KernelTiming& kernel, const Ceilings* ceilings) {
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
    const std::string note = compute::timing_note(kernel, ceilings);
    number(ui, milliseconds(kernel.median_ms()), note.empty() ? colour::text : colour::finding);
    record(ui, "timing." + kernel.name + ".note", note);
    if (!note.empty() && ImGui::IsItemHovered()) quick_tooltip(ui, note);
    ImGui::TableNextColumn();
    number(ui, milliseconds(kernel.p99_ms()), colour::dim);
    ImGui::TableNextColumn();
    const std::string per_second = rate(kernel);
    number(ui, per_second.empty() ? "-" : per_second);
    ImGui::TableNextColumn();
    share_cell(ui, kernel, ceilings);
    ImGui::TableNextColumn();
    sparkline(ui, kernel.recent_ms, {ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()});
}

void table(Ui& ui, Stage& stage, const Ceilings* ceilings) {
    constexpr auto flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_ScrollY |
                           ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoPadOuterX;
    if (!ImGui::BeginTable("kernels", 9, flags, ImGui::GetContentRegionAvail())) return;
    struct Column {
        const char* title;
        float width;  ///< 0: the remaining width
    };
    constexpr Column columns[] = {{"Kernel", 0},    {"Launches", 62},       {"Grid · block", 122},
                                  {"Last, ms", 62}, {"Median, ms", 72},     {"p99, ms", 58},
                                  {"Rate", 116},    {"Of the ceiling", 88}, {"Recent", 84}};
    ImGui::TableSetupScrollFreeze(0, 1);
    // In a narrow window the least important columns give their room to the name.
    constexpr std::size_t least_first[] = {8, 3, 5, 1, 2};
    const float padding = 2 * ImGui::GetStyle().CellPadding.x;
    float room = ImGui::GetContentRegionAvail().x - ui.px(130);
    for (const Column& c : columns) room -= ui.px(c.width) + padding;
    std::array<bool, std::size(columns)> dropped{};
    for (const std::size_t i : least_first) {
        dropped[i] = room < 0;
        if (dropped[i]) room += ui.px(columns[i].width) + padding;
    }
    for (std::size_t i = 0; i < std::size(columns); ++i) {
        const float width = columns[i].width;
        ImGui::TableSetupColumn(
            columns[i].title,
            (width > 0 ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch) |
                (dropped[i] ? ImGuiTableColumnFlags_Disabled : ImGuiTableColumnFlags_None),
            width > 0 ? ui.px(width) : 1);
    }
    ImGui::TableNextRow();
    for (const Column& c : columns) {
        ImGui::TableNextColumn();
        const bool left = c.width == 0 || c.width == 84;
        ImGui::PushFont(ui.fonts.small);
        const float free = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(c.title).x;
        if (!left && free > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + free);
        ImGui::PopFont();
        text(ui.fonts.small, colour::faint, c.title);
    }
    for (const KernelTiming& kernel : stage.device().timings().kernels()) row(ui, kernel, ceilings);
    ImGui::EndTable();
}

/// The time of a frame, which holds more than kernels: copies, drawing and the wait for V-sync.
std::string frame_text(const Stage& stage, const FrameTimes& times) {
    if (times.frame_ms <= 0) return {};
    if (stage.paused()) return "paused";
    return fmt::format("Frame {} ms (display {} ms) · {:.0f} fps", milliseconds(times.frame_ms),
                       milliseconds(times.display_ms), 1000 / times.frame_ms);
}

/// The GPU's clocks, and the reason where they are throttled.
void gpu_line(Ui& ui, DeviceFacts& facts, const compute::DeviceInfo& info) {
    const auto& state = facts.gpu(info);
    if (!state) return;
    ImGui::SameLine(0, ui.px(10));
    text(ui.fonts.small, state->throttled_by.empty() ? colour::dim : colour::finding,
         compute::words(*state));
    record(ui, "timings.gpu", compute::words(*state));
}

}  // namespace

void TimingsPanel::draw(Ui& ui) {
    const compute::DeviceInfo& info = stage_.device().info();
    const Ceilings* ceilings = compute::known_ceilings(info);
    text(ui.fonts.small, colour::dim, "On " + info.name);
    if (info.kind == compute::DeviceKind::emulator) {
        ImGui::SameLine(0, ui.px(10));
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() - ui.px(2));
        badge(ui, "emulated", colour::finding);
        record(ui, "timings.emulated", "emulated");
    } else {
        gpu_line(ui, facts_, info);
        if (!ceilings) ui.later([this] { facts_.measure(stage_.device()); });
    }
    const std::string frame = frame_text(stage_, times_);
    if (!frame.empty()) {
        ImGui::SameLine();
        number(ui, frame, colour::dim);
        record(ui, "timings.frame", frame);
    }
    table(ui, stage_, ceilings);
}

}  // namespace warpscope::ui
