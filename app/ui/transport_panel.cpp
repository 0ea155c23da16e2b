#include <fmt/format.h>

#include "ui/format.h"
#include "ui/panels.h"
#include "ui/widgets.h"

namespace warpscope::ui {
namespace {

enum class Icon { pause, play, step, restart };

void draw_icon(Icon icon, ImVec2 c, float r, ImU32 colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    switch (icon) {
        case Icon::pause:
            list.AddRectFilled({c.x - 0.75F * r, c.y - r}, {c.x - 0.2F * r, c.y + r}, colour);
            list.AddRectFilled({c.x + 0.2F * r, c.y - r}, {c.x + 0.75F * r, c.y + r}, colour);
            break;
        case Icon::play:
            list.AddTriangleFilled({c.x - 0.7F * r, c.y - r}, {c.x + r, c.y},
                                   {c.x - 0.7F * r, c.y + r}, colour);
            break;
        case Icon::step:
            list.AddTriangleFilled({c.x - 0.9F * r, c.y - r}, {c.x + 0.4F * r, c.y},
                                   {c.x - 0.9F * r, c.y + r}, colour);
            list.AddRectFilled({c.x + 0.55F * r, c.y - r}, {c.x + r, c.y + r}, colour);
            break;
        case Icon::restart:
            list.PathArcTo(c, r * 0.85F, -0.6F, 4.2F, 20);
            list.PathStroke(colour, 0, r * 0.3F);
            list.AddTriangleFilled({c.x + 0.25F * r, c.y - 0.75F * r},
                                   {c.x + 1.15F * r, c.y - 0.95F * r},
                                   {c.x + 0.95F * r, c.y + 0.05F * r}, colour);
            break;
    }
}

bool icon_button(Interface& ui, const char* id, Icon icon, const char* help, const char* value) {
    const float size = ImGui::GetFrameHeight();
    const bool clicked = ImGui::Button((std::string("##") + id).c_str(), {size + ui.px(6), size});
    record(ui, id, value);
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    draw_icon(icon, {(low.x + high.x) / 2, (low.y + high.y) / 2}, ui.px(5.5F), colour::text);
    tooltip(ui, help);
    ImGui::SameLine(0, ui.px(4));
    return clicked;
}

/// The widest width that `words` take, from here to the right edge.
void align_right(float width) {
    const float left = ImGui::GetCursorPosX();
    const float free = ImGui::GetContentRegionAvail().x;
    if (free > width) ImGui::SetCursorPosX(left + free - width);
}

float button_width(const char* label) {
    return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
}

void view_buttons(Interface& ui) {
    const float gap = ui.px(4);
    const std::string zoom = fmt::format("{:.0f} %", 100 * ui.canvas.view().pixels_per_texel);
    const float zoom_width = ImGui::CalcTextSize("6400 %").x;
    align_right(zoom_width + button_width("Fit") + button_width("1:1") + button_width("Grid") +
                3 * gap + ui.px(4));
    ImGui::AlignTextToFramePadding();
    const float x = ImGui::GetCursorPosX();
    ImGui::SetCursorPosX(x + zoom_width - ImGui::CalcTextSize(zoom.c_str()).x);
    text(ui.fonts.body, colour::faint, zoom);
    record(ui, "view.zoom", zoom);
    ImGui::SameLine(x + zoom_width, ui.px(8));
    if (flat_button(ui, "view.fit", "Fit", ui.canvas.fitted())) ui.canvas.fit();
    tooltip(ui, "Show the whole picture (F).");
    ImGui::SameLine(0, gap);
    const bool exact = !ui.canvas.fitted() && ui.canvas.view().pixels_per_texel == 1;
    if (flat_button(ui, "view.one_to_one", "1:1", exact)) ui.canvas.one_to_one();
    tooltip(ui, "One pixel of the picture to one of the screen.");
    ImGui::SameLine(0, gap);
    const bool tiled = ui.stage.tile_side() > 0;
    ImGui::BeginDisabled(!tiled);
    if (flat_button(ui, "view.grid", "Grid", ui.options.grid && tiled))
        ui.options.grid = !ui.options.grid;
    ImGui::EndDisabled();
    ui.widgets.last().enabled = tiled;
    tooltip(ui, "Draw the borders of the thread blocks (G). They show once they are large enough.");
}

}  // namespace

void draw_transport(Interface& ui) {
    Stage& stage = ui.stage;
    const bool paused = stage.paused();
    if (icon_button(ui, "transport.pause", paused ? Icon::play : Icon::pause,
                    paused ? "Run (Space)." : "Pause (Space).", paused ? "on" : "off"))
        stage.pause(!paused);
    if (icon_button(ui, "transport.step", Icon::step, "One frame, then pause (. or Right).", ""))
        stage.step_once();
    if (icon_button(ui, "transport.reset", Icon::restart, "Back to frame 0 (R).", ""))
        ui.later([&ui] { ui.stage.reset(); });
    ImGui::SameLine(0, ui.px(10));
    ImGui::AlignTextToFramePadding();
    const std::string frame = quantity(double(stage.experiment().frame()), "");
    text(ui.fonts.body, colour::dim, "frame " + frame);
    record(ui, "transport.frame", std::to_string(stage.experiment().frame()));
    if (!stage.pixels()) return;
    ImGui::SameLine();
    view_buttons(ui);
}

}  // namespace warpscope::ui
