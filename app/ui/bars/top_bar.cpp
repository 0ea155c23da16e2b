#include "ui/bars/top_bar.h"

#include <algorithm>

#include "ui/language/language.h"
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
    int rank = 0;  ///< the lowest go where there is little room
};

std::vector<BarButton> bar_buttons(const ViewOptions& options) {
    const bool records = options.records != Recorded::none;
    return {
        {"vsync", tr("V-sync"),
         tr("Wait for the monitor before each frame; off: unlimited frame rate"),
         Command::toggle_vsync, options.vsync, 0},
        {"open", tr("Open…"),
         tr("Open bodies, kernels, a launch file, or a PNG that Warpscope saved"),
         Command::open_file, false, 5},
        {"screenshot.picture", tr("Save picture"),
         tr("Save the picture alone as a PNG, with the settings in its metadata"),
         Command::save_picture, false, 3},
        {"screenshot.window", tr("Save window"),
         tr("Save the whole window as a PNG, with the settings in its metadata"),
         Command::save_window, false, 2},
        {"copy.picture", tr("Copy"), tr("Copy the picture alone to the clipboard"),
         Command::copy_picture, false, 1},
        {"record", record_label(options),
         records ? tr("End the recording and save it") : tr("Record the window as an animated PNG"),
         Command::toggle_recording, records, records ? 7 : 4},
        {"lessons.button", tr("Lessons"), tr("Lessons with gates that the detector decides"),
         Command::toggle_lessons, options.lessons, 6}};
}

float language_width(Ui& ui) {
    float widest = 0;
    for (const LanguageName& one : languages)
        widest = std::max(widest, button_width(shown_name(one.language)));
    return widest + ui.px(8) + ImGui::GetFrameHeight();
}

constexpr const char* more = "»";

/// The width of what is always there, and of the button that lists the others.
float help_width(Ui& ui) {
    return button_width("?") + button_width(more) + language_width(ui) + 2 * ui.px(4);
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

void bar_button(Ui& ui, const BarButton& one, ImVec2 size = {0, 0}) {
    if (flat_button(ui, one.id, one.label.c_str(), one.on, size)) {
        ui.ask(one.command);
        ImGui::CloseCurrentPopup();
    }
    tooltip(ui, with_key(one.help, one.command));
}

/// Lists the buttons that have no room in the bar.
void more_buttons(Ui& ui, const std::vector<BarButton>& folded) {
    if (flat_button(ui, "more", more)) ImGui::OpenPopup("more");
    tooltip(ui, tr("The buttons that have no room here."));
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImGui::SetNextWindowPos({low.x, high.y + ui.px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(6), ui.px(6)});
    const bool open = ImGui::BeginPopup("more");
    ImGui::PopStyleVar();
    if (!open) return;
    float widest = 0;
    for (const BarButton& one : folded) widest = std::max(widest, button_width(one.label.c_str()));
    for (const BarButton& one : folded) bar_button(ui, one, {widest, 0});
    ImGui::EndPopup();
}

/// Draws as many buttons as have room, and lists the others.
void right_buttons(Ui& ui, const ViewOptions& options, const KeyList& keys,
                   const std::function<void(Language)>& speak) {
    const float gap = ui.px(4), room = ImGui::GetContentRegionAvail().x;
    std::vector<BarButton> buttons = bar_buttons(options), folded;
    const auto width = [&] {
        float sum = help_width(ui) - (folded.empty() ? button_width(more) + gap : 0);
        for (const BarButton& one : buttons) sum += button_width(one.label.c_str()) + gap;
        return sum;
    };
    while (!buttons.empty() && width() > room) {
        const auto least = std::ranges::min_element(buttons, {}, &BarButton::rank);
        folded.push_back(std::move(*least));
        buttons.erase(least);
    }
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width());
    for (const BarButton& one : buttons) {
        bar_button(ui, one);
        ImGui::SameLine(0, gap);
    }
    if (!folded.empty()) {
        more_buttons(ui, folded);
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
    const std::string label = tr("Stop, {} s", options.recorded_seconds);
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

}  // namespace warpscope::ui
