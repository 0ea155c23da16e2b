#include "ui/panels/top_bar.h"

#include <fmt/format.h>

#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Draws a tile of shared memory with one stale element.
void logo(Ui& ui) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float cell = ui.px(5), gap = ui.px(1.5F);
    const float top = at.y + (ImGui::GetFrameHeight() - 3 * cell - 2 * gap) / 2;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x) {
            const ImVec2 low{at.x + float(x) * (cell + gap), top + float(y) * (cell + gap)};
            const bool stale = x == 2 && y == 1;
            list.AddRectFilled(
                low, {low.x + cell, low.y + cell},
                stale ? colour::finding : faded(colour::accent, 0.45F + 0.12F * float(x + y)),
                ui.px(1));
        }
    ImGui::Dummy({3 * cell + 2 * gap, ImGui::GetFrameHeight()});
    ImGui::SameLine(0, ui.px(9));
}

void tab(Ui& ui, Stage& stage, const experiments::SharedEntry& entry) {
    const bool on = entry->id == stage.entry().id;
    ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_Text, on ? colour::text : colour::dim);
    ImGui::PushID(entry->id.c_str());
    if (ImGui::Button(entry->title.c_str())) ui.later([&stage, entry] { stage.select(entry); });
    ImGui::PopID();
    ImGui::PopStyleColor(2);
    record(ui, "tab." + entry->id, on ? "on" : "off");
    tooltip(ui, entry->summary);
    if (on) {
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float y = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
        ImGui::GetWindowDrawList()->AddRectFilled({low.x + ui.px(9), y - ui.px(2)},
                                                  {high.x - ui.px(9), y}, colour::accent);
    }
    ImGui::SameLine(0, ui.px(2));
}

void tabs(Ui& ui, Stage& stage) {
    for (const experiments::Entry& entry : experiments::registry())
        tab(ui, stage, stage.newest(entry));
}

/// How long a recording is, while there is one.
std::string record_label(const ViewOptions& options) {
    if (options.records == Recorded::none) return "Record";
    return fmt::format("Stop, {} s", options.recorded_seconds);
}

void file_buttons(Ui& ui, const ViewOptions& options, float gap) {
    if (flat_button(ui, "open", "Open…")) ui.ask(Command::open_file);
    tooltip(ui, with_key("Open bodies, kernels, a launch file, or a PNG that Warpscope saved",
                         Command::open_file));
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "screenshot.picture", "Save picture")) ui.ask(Command::save_picture);
    tooltip(ui, with_key("Save the picture alone as a PNG, with the settings in its metadata",
                         Command::save_picture));
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "screenshot.window", "Save window")) ui.ask(Command::save_window);
    tooltip(ui, with_key("Save the whole window as a PNG, with the settings in its metadata",
                         Command::save_window));
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "copy.picture", "Copy")) ui.ask(Command::copy_picture);
    tooltip(ui, with_key("Copy the picture alone to the clipboard", Command::copy_picture));
    ImGui::SameLine(0, gap);
    const bool records = options.records != Recorded::none;
    if (flat_button(ui, "record", record_label(options).c_str(), records))
        ui.ask(Command::toggle_recording);
    tooltip(ui, with_key(records ? "End the recording and save it"
                                 : "Record the window as an animated PNG",
                         Command::toggle_recording));
    ImGui::SameLine(0, gap);
}

/// Draws as many buttons as have room; all of them have keys, too.
void right_buttons(Ui& ui, const ViewOptions& options, const KeyList& keys) {
    const float gap = ui.px(4), room = ImGui::GetContentRegionAvail().x;
    const float help = button_width("?") + button_width("Lessons") + gap;
    const float vsync = help + button_width("V-sync") + gap;
    const float all = vsync + button_width("Save picture") + button_width("Save window") +
                      button_width("Open…") + button_width("Copy") +
                      button_width(record_label(options).c_str()) + 5 * gap;
    const float width = room >= all ? all : room >= vsync ? vsync : help;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
    if (room >= vsync) {
        if (flat_button(ui, "vsync", "V-sync", options.vsync)) ui.ask(Command::toggle_vsync);
        tooltip(ui, with_key("Wait for the monitor before each frame; off: unlimited frame rate",
                             Command::toggle_vsync));
        ImGui::SameLine(0, gap);
    }
    if (room >= all) file_buttons(ui, options, gap);
    if (flat_button(ui, "lessons.button", "Lessons", options.lessons))
        ui.ask(Command::toggle_lessons);
    tooltip(ui, with_key("Lessons with gates that the detector decides", Command::toggle_lessons));
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "keys", "?", keys.shown())) ui.ask(Command::toggle_keys);
    tooltip(ui, with_key("Show all keys", Command::toggle_keys));
}

}  // namespace

void TopBar::draw(Ui& ui) {
    logo(ui);
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.strong, colour::text, "Warpscope");
    ImGui::SameLine(0, ui.px(20));
    tabs(ui, stage_);
    right_buttons(ui, options_, keys_);
}

}  // namespace warpscope::ui
