#include "ui/bars/transport_panel.h"

#include <fmt/format.h>

#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Moves the cursor so that something of this width ends at the right edge.
void align_right(float width) {
    const float left = ImGui::GetCursorPosX();
    const float free = ImGui::GetContentRegionAvail().x;
    if (free > width) ImGui::SetCursorPosX(left + free - width);
}

void zoom_text(Ui& ui, Canvas& canvas, float width) {
    const std::string zoom = fmt::format("{:.0f} %", 100 * canvas.view().pixels_per_texel);
    ImGui::AlignTextToFramePadding();
    const float x = ImGui::GetCursorPosX();
    ImGui::SetCursorPosX(x + width - ImGui::CalcTextSize(zoom.c_str()).x);
    text(ui.fonts.body, colour::faint, zoom);
    record(ui, "view.zoom", zoom);
    ImGui::SameLine(x + width, ui.px(8));
}

void grid_button(Ui& ui, Stage& stage, ViewOptions& options) {
    const bool tiled = stage.tile_side() > 0;
    ImGui::BeginDisabled(!tiled);
    if (flat_button(ui, "view.grid", tr("Grid"), options.grid && tiled))
        ui.ask(Command::toggle_grid);
    ImGui::EndDisabled();
    ui.widgets.last().enabled = tiled;
    tooltip(ui, with_key(tr("Draw the borders of the thread blocks, where they are large enough"),
                         Command::toggle_grid));
}

/// Draws Fit, 1:1, Grid and Zoom; where there is little room, without Zoom or Grid.
void view_buttons(Ui& ui, Stage& stage, ViewOptions& options, Canvas& canvas) {
    const float gap = ui.px(4);
    const float zoom_width = ImGui::CalcTextSize("6400 %").x;
    const float least = button_width(tr("Fit")) + button_width("1:1") + gap;
    const float buttons = least + button_width(tr("Grid")) + gap;
    const float all = zoom_width + buttons + gap + ui.px(4);
    const float room = ImGui::GetContentRegionAvail().x;
    if (room < least) return;
    align_right(room >= all ? all : room >= buttons ? buttons : least);
    if (room >= all) zoom_text(ui, canvas, zoom_width);
    if (flat_button(ui, "view.fit", tr("Fit"), canvas.fitted())) canvas.fit();
    tooltip(ui, with_key(tr("Show the whole picture"), Command::fit_picture));
    ImGui::SameLine(0, gap);
    const bool exact = !canvas.fitted() && canvas.view().pixels_per_texel == 1;
    if (flat_button(ui, "view.one_to_one", "1:1", exact)) canvas.one_to_one();
    tooltip(ui, tr("Show each pixel of the picture as one pixel of the screen."));
    if (room < buttons) return;
    ImGui::SameLine(0, gap);
    grid_button(ui, stage, options);
}

}  // namespace

void TransportPanel::drawer_button(Ui& ui, Drawer drawer) {
    const bool controls = drawer == Drawer::controls, open = options_.drawer == drawer;
    if (icon_button(ui, controls ? "drawer.controls" : "drawer.results",
                    controls ? Icon::sliders : Icon::numbers,
                    controls ? tr("Show or hide the parameters.") : tr("Show or hide all results."),
                    open ? "on" : "off", true, open))
        ui.later([this, drawer, open] { options_.drawer = open ? Drawer::none : drawer; });
}

void draw_edited_badge(Ui& ui, const std::string& files) {
    badge(ui, tr("edited"), colour::finding);
    record(ui, "edited", files);
    tooltip(ui, tr("An edited kernel source runs: {}.", files));
}

/// While edited text runs, shows that beside the frame's number, with a button that goes back to
/// the built-in source.
void TransportPanel::edited_badge(Ui& ui) {
    const std::string files = edited_files(stage_);
    if (files.empty()) return;
    ImGui::SameLine(0, ui.px(10));
    const float y = ImGui::GetCursorPosY();
    ImGui::SetCursorPosY(y + ui.px(4));
    draw_edited_badge(ui, files);
    if (!stage_.read_only().empty()) return;
    ImGui::SameLine(0, ui.px(6));
    ImGui::SetCursorPosY(y);
    if (ImGui::GetContentRegionAvail().x < button_width(tr("Revert"))) return ImGui::NewLine();
    if (flat_button(ui, "edited.revert", tr("Revert")))
        ui.later([&stage = stage_] { revert_edits(stage); });
    tooltip(ui,
            tr("Run the built-in kernel source again. Undo in the editor brings the edit back."));
}

void TransportPanel::draw(Ui& ui, bool narrow) {
    Stage& stage = stage_;
    if (narrow) {
        drawer_button(ui, Drawer::controls);
        drawer_button(ui, Drawer::results);
    }
    const bool paused = stage.paused();
    if (icon_button(ui, "transport.pause", paused ? Icon::play : Icon::pause,
                    with_key(paused ? tr("Run") : tr("Pause"), Command::toggle_pause),
                    paused ? "on" : "off"))
        ui.ask(Command::toggle_pause);
    if (icon_button(ui, "transport.step", Icon::step,
                    with_key(tr("Run one frame, then pause"), Command::step_frame)))
        ui.ask(Command::step_frame);
    if (icon_button(ui, "transport.reset", Icon::restart,
                    with_key(tr("Reset to frame 0"), Command::reset)))
        ui.ask(Command::reset);
    const bool open = microscope_.is_open();
    if (icon_button(ui, "transport.microscope", Icon::microscope,
                    with_key(open ? tr("Close the microscope")
                                  : tr("Open the microscope: step the warps of one block"),
                             Command::toggle_microscope),
                    open ? "on" : "off", true, open))
        ui.ask(Command::toggle_microscope);
    const bool editor = options_.editor && !open;
    if (icon_button(ui, "editor.open", Icon::code,
                    editor ? with_key(tr("Close the editor"), Command::toggle_editor)
                           : with_key(tr("Edit the kernel source beside the picture; the edited "
                                         "kernel runs as soon as it compiles"),
                                      Command::toggle_editor),
                    editor ? "on" : "off", true, editor))
        ui.ask(Command::toggle_editor);
    ImGui::SameLine(0, ui.px(10));
    const float y = ImGui::GetCursorPosY();
    ImGui::AlignTextToFramePadding();
    const std::string frame = quantity(double(stage.frame()), "");
    // A clipped number would read as another number, so it is drawn only if it fits, beside the
    // words that edited text runs.
    ImGui::PushFont(ui.fonts.small);
    const float badge = ImGui::CalcTextSize(tr("edited")).x + ui.px(14 + 10);
    ImGui::PopFont();
    const float needed = ImGui::CalcTextSize(tr("frame {}", frame).c_str()).x +
                         (edited_files(stage).empty() ? 0 : badge);
    const bool room = ImGui::GetContentRegionAvail().x >= needed;
    text(ui.fonts.body, colour::dim, room ? tr("frame {}", frame) : "");
    record(ui, "transport.frame", std::to_string(stage.frame()));
    edited_badge(ui);
    if (!stage.pixels()) return;
    ImGui::SameLine();
    ImGui::SetCursorPosY(y);
    view_buttons(ui, stage_, options_, canvas_);
}

}  // namespace warpscope::ui
