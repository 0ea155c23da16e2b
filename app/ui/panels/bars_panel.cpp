#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "ui/panels/panels.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

void mark(Interface& ui) {
    // A tile of shared memory with one stale element.
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

void tabs(Interface& ui) {
    for (const experiments::Entry& entry : experiments::registry()) {
        const bool on = entry.id == ui.stage.entry().id;
        ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
        ImGui::PushStyleColor(ImGuiCol_Text, on ? colour::text : colour::dim);
        ImGui::PushID(entry.id.c_str());
        if (ImGui::Button(entry.title.c_str())) ui.later([&ui, &entry] { ui.stage.select(entry); });
        ImGui::PopID();
        ImGui::PopStyleColor(2);
        record(ui, "tab." + entry.id, on ? "on" : "off");
        tooltip(ui, entry.summary);
        if (on) {
            const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
            const float y = ImGui::GetWindowPos().y + ImGui::GetWindowHeight();
            ImGui::GetWindowDrawList()->AddRectFilled({low.x + ui.px(9), y - ui.px(2)},
                                                      {high.x - ui.px(9), y}, colour::accent);
        }
        ImGui::SameLine(0, ui.px(2));
    }
}

float button_width(const char* label) {
    return ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x;
}

void screenshot_buttons(Interface& ui, float gap) {
    if (flat_button(ui, "screenshot.picture", "Save picture")) ui.shot = Shot::picture;
    tooltip(ui, "A PNG of the picture alone, with the settings in its metadata (Shift+F12).");
    ImGui::SameLine(0, gap);
    if (flat_button(ui, "screenshot.window", "Save window")) ui.shot = Shot::window;
    tooltip(ui, "A PNG of the whole window, with the settings in its metadata (F12).");
    ImGui::SameLine(0, gap);
}

/// What there is room for; all of it has keys, too.
void right_buttons(Interface& ui) {
    const float gap = ui.px(4), room = ImGui::GetContentRegionAvail().x;
    const float help = button_width("?"), vsync = help + button_width("V-sync") + gap;
    const float all = vsync + button_width("Save picture") + button_width("Save window") + 2 * gap;
    const float width = room >= all ? all : room >= vsync ? vsync : help;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
    if (room >= vsync) {
        if (flat_button(ui, "vsync", "V-sync", ui.options.vsync))
            ui.options.vsync = !ui.options.vsync;
        tooltip(ui,
                "Wait for the monitor before each frame (V). Off: as many frames as can be had.");
        ImGui::SameLine(0, gap);
    }
    if (room >= all) screenshot_buttons(ui, gap);
    if (flat_button(ui, "keys", "?", ui.show_keys)) ui.show_keys = !ui.show_keys;
    tooltip(ui, "Keys (H or F1).");
}

struct Line {
    std::string text;
    ImU32 colour;
};

/// An error stays until the next change; news makes place for the worst finding after a while.
Line current_line(const Interface& ui) {
    const Message& message = ui.stage.message();
    const auto age = std::chrono::steady_clock::now() - message.at;
    if (message.tone == Tone::error && !message.text.empty()) return {message.text, colour::bad};
    if (!message.text.empty() && age < std::chrono::seconds(12))
        return {message.text, colour::text};
    for (const auto verdict : {experiments::Verdict::fail, experiments::Verdict::finding})
        for (const experiments::Reading& r : ui.stage.report())
            if (r.verdict == verdict && !r.sentence.empty())
                return {r.label + ": " + r.sentence, verdict_colour(verdict)};
    return {ui.stage.entry().summary, colour::dim};
}

using Key = std::pair<const char*, const char*>;

constexpr Key keys[] = {
    {"Space", "pause and run"},
    {".  or  →", "one frame, then pause"},
    {"R", "back to frame 0"},
    {"M", "open the microscope"},
    {"E", "the kernel's source, to be edited"},
    {"1 – 9", "choose the experiment"},
    {"F", "fit the picture"},
    {"G", "block borders"},
    {"V", "wait for the monitor"},
    {"F12", "save the window as PNG"},
    {"Shift+F12", "save the picture"},
    {"Wheel", "zoom (with Ctrl where the wheel is used)"},
    {"Drag", "move or turn the picture"},
    {"H  or  F1", "this list"},
};

constexpr Key microscope_keys[] = {
    {"→  ←", "an instruction, and back"},
    {"↓  ↑", "a source line, and back"},
    {"B  Shift+B", "to the next barrier, and back"},
    {"Space", "run and pause"},
    {"Home  End", "to the start, to the end"},
    {"P", "PTX beside the source"},
    {"Click", "on the picture: another thread"},
    {"M  or  Esc", "close it"},
};

constexpr Key editor_keys[] = {
    {"Click", "on a dot: a barrier out, and in"},
    {"Ctrl+Z  Y", "undo, redo"},
    {"Ctrl+S  O", "save, open a file"},
    {"Tab", "indent; with Shift back"},
    {"Esc", "leave the text"},
};

void key_list(Interface& ui, const char* title, std::span<const Key> list) {
    ImGui::BeginGroup();
    heading(ui, title);
    for (const auto& [key, what] : list) {
        text(ui.fonts.mono, colour::accent, key);
        ImGui::SameLine(ui.px(112), 0);
        text(ui.fonts.body, colour::text, what);
    }
    ImGui::EndGroup();
}

/// At the end of the line; gives the room that it takes.
float offer_button(Interface& ui, float right) {
    if (!ui.offer) return 0;
    ImGui::PushFont(ui.fonts.small);
    const float width = button_width(ui.offer->label.c_str());
    const char* const decline = "No";
    const float beside = ui.offer->decline ? button_width(decline) + ui.px(6) : 0;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::SetCursorScreenPos({right - width - beside, at.y});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ImGui::GetStyle().FramePadding.x, 0});
    if (flat_button(ui, "offer", ui.offer->label.c_str(), true)) ui.later(ui.offer->take);
    tooltip(ui, ui.offer->help);
    if (ui.offer->decline) {
        ImGui::SameLine(0, ui.px(6));
        if (flat_button(ui, "offer.decline", decline, false)) ui.later(ui.offer->decline);
        tooltip(ui, "Don't offer it again.");
    }
    ImGui::PopStyleVar();
    ImGui::SetCursorScreenPos(at);
    ImGui::PopFont();
    return width + beside + ui.px(12);
}

}  // namespace

void draw_top_bar(Interface& ui) {
    mark(ui);
    ImGui::AlignTextToFramePadding();
    text(ui.fonts.strong, colour::text, "Warpscope");
    ImGui::SameLine(0, ui.px(20));
    tabs(ui);
    right_buttons(ui);
}

void draw_message(Interface& ui) {
    const compute::DeviceInfo& info = ui.stage.device().info();
    std::string right = info.name;
    if (ui.stage.pixels()) right += fmt::format(" · {}", gl::to_string(ui.stage.pixels()->path()));
    ImGui::PushFont(ui.fonts.small);
    const float right_width = ImGui::CalcTextSize(right.c_str()).x;
    ImGui::PopFont();
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float taken =
        right_width + offer_button(ui, low.x + width - right_width - ui.px(12)) + ui.px(50);
    const Line line = current_line(ui);
    const float dot = ui.px(3.5F);
    ImGui::GetWindowDrawList()->AddCircleFilled(
        {low.x + dot, low.y + ImGui::GetTextLineHeight() / 2}, dot, line.colour);
    ImGui::SetCursorScreenPos({low.x + 2 * dot + ui.px(8), low.y});
    clipped_text(ui.fonts.small, line.colour == colour::dim ? colour::dim : line.colour, line.text,
                 width - taken);
    record(ui, "message", line.text);
    ImGui::SetCursorScreenPos({low.x + width - right_width, low.y});
    text(ui.fonts.small, colour::dim, right);
    record(ui, "device.name", info.name);
}

void draw_keys(Interface& ui) {
    if (!ui.show_keys) return;
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(22), ui.px(18)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(8));
    ImGui::PushStyleColor(ImGuiCol_WindowBg, colour::raised);
    ImGui::Begin("##keys", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
    key_list(ui, "Keys", keys);
    ImGui::SameLine(0, ui.px(36));
    ImGui::BeginGroup();
    key_list(ui, "While the microscope is open", microscope_keys);
    ImGui::Dummy({0, ui.px(8)});
    key_list(ui, "In the source", editor_keys);
    ImGui::EndGroup();
    ImGui::End();
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
}

}  // namespace warpscope::ui
