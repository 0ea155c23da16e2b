#include "ui/bars/button_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ui/edits/barrier_switch.h"
#include "ui/language/language.h"
#include "ui/widgets/edition.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
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
                stale ? colour::bad : faded(colour::accent, 0.45F + 0.12F * float(x + y)),
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
    if (ImGui::Button((tr(entry->title) + "###" + entry->id).c_str()))
        ui.later([&stage, entry] { stage.select(entry); });
    ImGui::PopID();
    ImGui::PopStyleColor(2);
    record(ui, "tab." + entry->id, on ? "on" : "off");
    tooltip(ui, tr(entry->summary));
    if (on) {
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float y = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
        ImGui::GetWindowDrawList()->AddRectFilled({low.x + ui.px(9), y - ui.px(2)},
                                                  {high.x - ui.px(9), y}, colour::accent);
    }
    ImGui::SameLine(0, ui.px(2));
}

/// The experiments side by side or, where they have no room, as a list.
void tabs(Ui& ui, Stage& stage, float room) {
    std::vector<std::string> ids, titles;
    std::size_t chosen = 0;
    float width = 0, widest = 0;
    for (const experiments::Entry& entry : experiments::registry()) {
        if (entry.id == stage.entry().id) chosen = ids.size();
        ids.push_back(entry.id);
        titles.push_back(tr(stage.newest(entry)->title));
        const float button = button_width(titles.back().c_str());
        width += button + ui.px(2);
        widest = std::max(widest, button);
    }
    if (width <= room) {
        for (const experiments::Entry& entry : experiments::registry())
            tab(ui, stage, stage.newest(entry));
        return;
    }
    const float list = std::min(room, widest + ImGui::GetFrameHeight());
    const int clicked = dropdown(ui, "tabs", ids, titles, chosen, list);
    if (clicked >= 0)
        ui.later([&stage, clicked] {
            stage.select(stage.newest(experiments::registry()[std::size_t(clicked)]));
        });
    ImGui::SameLine(0, ui.px(2));
}

struct BarButton {
    const char* id;
    std::string label, help;
    Command command;
    bool on = false;
    int rank = 0;  ///< the lowest go into the menu where there is little room
};

/// The buttons of the bar. While there is a recording, the one that ends it stands first.
std::vector<BarButton> bar_buttons(const ViewOptions& options) {
    std::vector<BarButton> buttons{
        {"open", tr("Open…"),
         tr("Open bodies, kernels, a launch file, or a PNG that Warpscope saved"),
         Command::open_file, false, 1},
        {"lessons.button", tr("Lessons"), tr("Lessons with gates that the detector decides"),
         Command::toggle_lessons, options.lessons, 2},
        {"copy.link", tr("Copy link"), tr("Copy a link that opens what is on show"),
         Command::copy_link, false, 3}};
    if (options.records != Recorded::none)
        buttons.insert(buttons.begin(),
                       {"record", record_label(options), tr("End the recording and save it"),
                        Command::toggle_recording, true, 3});
    std::erase_if(buttons, [](const BarButton& one) { return !offers(one.command); });
    return buttons;
}

/// What the menu of the bar has at first.
std::vector<BarButton> save_buttons(const ViewOptions& options) {
    std::vector<BarButton> buttons{
        {"screenshot.picture", tr("Save picture"),
         tr("Save the picture alone as a PNG, with the settings in its metadata"),
         Command::save_picture},
        {"screenshot.window", tr("Save window"),
         tr("Save the whole window as a PNG, with the settings in its metadata"),
         Command::save_window},
        {"copy.picture", tr("Copy picture"), tr("Copy the picture alone to the clipboard"),
         Command::copy_picture}};
    if (options.records != Recorded::none || !offers(Command::ask_recording)) return buttons;
    buttons.push_back({"record", tr("Record…"),
                       tr("Choose what is recorded, as which file and how long"),
                       Command::ask_recording});
    return buttons;
}

float language_width(Ui& ui) {
    float widest = 0;
    for (const LanguageName& one : languages)
        widest = std::max(widest, button_width(shown_name(one.language)));
    return widest + ui.px(8) + ImGui::GetFrameHeight();
}

/// The width of what is always there.
float help_width(Ui& ui) {
    const float menu = offers(Command::save_window) ? button_width(tr("Save")) + ui.px(12 + 4) : 0;
    return button_width("?") + menu + language_width(ui) + ui.px(4);
}

void choose_language(Ui& ui, const std::function<void(Language)>& speak) {
    std::vector<std::string> ids, labels;
    for (const LanguageName& one : languages) {
        ids.emplace_back(one.code);
        labels.emplace_back(shown_name(one.language));
    }
    const int clicked =
        dropdown(ui, "language", ids, labels, std::size_t(language()), language_width(ui));
    tooltip(ui, tr("The language of the window."));
    if (clicked >= 0) ui.later([speak, clicked] { speak(languages[clicked].language); });
}

/// The button of a recording, whose words change, keeps its width.
float width_of(Ui& ui, const BarButton& one) {
    const float width = button_width(one.label.c_str());
    return one.on && one.command == Command::toggle_recording ? std::max(width, ui.px(180)) : width;
}

void bar_button(Ui& ui, const BarButton& one, ImVec2 size = {0, 0}) {
    if (flat_button(ui, one.id, one.label.c_str(), one.on, size)) {
        ui.ask(one.command);
        ImGui::CloseCurrentPopup();
    }
    tooltip(ui, with_key(one.help, one.command));
}

/// A button that opens the menu: what has no room in the bar, then what saves or copies.
void bar_menu(Ui& ui, const ViewOptions& options, std::vector<BarButton> entries) {
    std::ranges::move(save_buttons(options), std::back_inserter(entries));
    const std::string label = std::string(tr("Save")) + "    ";
    if (flat_button(ui, "save", label.c_str(), false, {button_width(tr("Save")) + ui.px(12), 0}))
        ImGui::OpenPopup("save");
    tooltip(ui, tr("Save, copy or record the picture or the window."));
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    draw_icon(Icon::fold, {high.x - ui.px(13), (low.y + high.y) / 2}, ui.px(4), colour::dim);
    ImGui::SetNextWindowPos({high.x, high.y + ui.px(4)}, ImGuiCond_Always, {1, 0});
    if (!begin_popup(ui, "save", {6, 6})) return;
    float widest = 0;
    for (const BarButton& one : entries) widest = std::max(widest, button_width(one.label.c_str()));
    ImGui::PushStyleVar(ImGuiStyleVar_ButtonTextAlign, {0, 0.5F});
    ImGui::PushStyleColor(ImGuiCol_Button, colour::clear);
    for (const BarButton& one : entries) bar_button(ui, one, {widest, 0});
    ImGui::PopStyleColor();
    ImGui::PopStyleVar();
    ImGui::EndPopup();
}

/// Draws as many buttons as have room, and a menu with the others.
void right_buttons(Ui& ui, const ViewOptions& options, const KeyList& keys,
                   const std::function<void(Language)>& speak) {
    const float gap = ui.px(4), room = ImGui::GetContentRegionAvail().x;
    std::vector<BarButton> buttons = bar_buttons(options), folded;
    const auto width = [&] {
        float sum = help_width(ui);
        for (const BarButton& one : buttons) sum += width_of(ui, one) + gap;
        return sum;
    };
    while (!buttons.empty() && width() > room) {
        const auto least = std::ranges::min_element(buttons, {}, &BarButton::rank);
        folded.push_back(std::move(*least));
        buttons.erase(least);
    }
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width());
    for (const BarButton& one : buttons) {
        bar_button(ui, one, {width_of(ui, one), 0});
        ImGui::SameLine(0, gap);
    }
    if (offers(Command::save_window)) {
        bar_menu(ui, options, std::move(folded));
        ImGui::SameLine(0, gap);
    }
    choose_language(ui, speak);
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "keys", "?", keys.shown())) ui.ask(Command::toggle_keys);
    tooltip(ui, with_key(tr("Show all keys"), Command::toggle_keys));
}

}  // namespace

std::string record_label(const ViewOptions& options) {
    if (options.records == Recorded::none) return tr("Record");
    const std::string size = fmt::format("{:.1f} MB", double(options.recorded_bytes) / 1e6);
    const std::string label =
        options.record_seconds > options.recorded_seconds
            ? tr("Stop, {} s left, {}", options.record_seconds - options.recorded_seconds, size)
            : tr("Stop, {} s, {}", options.recorded_seconds, size);
    if (options.dropped_frames == 0) return label;
    return label + tr(", {} dropped", counted(options.dropped_frames, "frame"));
}

void TopBar::draw(Ui& ui) {
    logo(ui);
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.strong, colour::text, "Warpscope");
    ImGui::SameLine(0, ui.px(20));
    tabs(ui, stage_, ImGui::GetContentRegionAvail().x - help_width(ui) - ui.px(8));
    right_buttons(ui, options_, keys_, speak_);
}

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
    badge(ui, tr("edited"), colour::accent);
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
    if (offers(Command::toggle_editor) &&
        icon_button(ui, "editor.open", Icon::code,
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
