#include "ui/edits/open_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ui/widgets/widgets.h"

namespace warpscope::ui {

/// True where a click chose a file.
bool OpenPanel::list(Ui& ui, float width) {
    std::vector<std::string> files = options_.recent_files;
    if (!galaxy_.empty() && std::find(files.begin(), files.end(), galaxy_) == files.end())
        files.push_back(galaxy_);
    bool chosen = false;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string& path = files[i];
        const std::size_t name = path.rfind('/') + 1;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        ImGui::PushID(int(i));
        if (ImGui::Selectable("##file", false, 0, {width, 0})) {
            ui.later([this, path] { opener_.open(path); });
            chosen = true;
        }
        ImGui::PopID();
        record(ui, fmt::format("open:{}", i), path);
        const ImVec2 next = ImGui::GetCursorScreenPos();
        ImGui::SetCursorScreenPos(at);
        const float begin = ImGui::GetCursorPosX();
        const std::string words = path.substr(name);
        text(ui.fonts.body, colour::text, words);
        ImGui::SameLine(begin + ImGui::CalcTextSize(words.c_str()).x + ui.px(10), 0);
        const std::string folder = path == galaxy_ ? "20 000 bodies" : path.substr(0, name);
        clipped_text(ui.fonts.small, colour::dim, folder,
                     std::max(ui.px(20), at.x + width - ImGui::GetCursorScreenPos().x));
        ImGui::SetCursorScreenPos(next);
    }
    return chosen;
}

/// True on Enter or on a click of the button.
bool OpenPanel::path_field(Ui& ui, float width) {
    std::array<char, 4096> buffer{};
    typed_.copy(buffer.data(), buffer.size() - 1);
    ImGui::SetNextItemWidth(width - button_width("Open") - ui.px(6));
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    bool go = ImGui::InputTextWithHint("##path", "path of a file", buffer.data(), buffer.size(),
                                       ImGuiInputTextFlags_EnterReturnsTrue);
    typed_ = buffer.data();
    record(ui, "open.path", typed_);
    ImGui::SameLine(0, ui.px(6));
    go |= flat_button(ui, "open.go", "Open");
    if (!go || typed_.empty()) return false;
    ui.later([this, path = typed_] { opener_.open(path); });
    return true;
}

void OpenPanel::draw(Ui& ui) {
    if (asked_) {
        ImGui::OpenPopup("open");
        typed_.clear();
        asked_ = false;
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({screen.x / 2, screen.y / 3}, ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(14)});
    const bool open = ImGui::BeginPopup("open");
    ImGui::PopStyleVar();
    if (!open) return;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    ImGui::PushStyleColor(ImGuiCol_Button, colour::hovered);
    const float width = std::min(ui.px(460), screen.x - ui.px(40));
    heading(ui, "Open a file");
    bool done = path_field(ui, width);
    ImGui::Dummy({0, ui.px(4)});
    done |= list(ui, width);
    ImGui::Dummy({0, ui.px(4)});
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
    text(ui.fonts.small, colour::dim,
         "Bodies (tipsy or CSV), kernels (.cu), a launch file (.launch.json), or a PNG that "
         "Warpscope "
         "saved, whose settings come back. You can drop a file on the window, too.");
    ImGui::PopTextWrapPos();
    if (done) ImGui::CloseCurrentPopup();
    ImGui::PopStyleColor(2);
    ImGui::EndPopup();
}

}  // namespace warpscope::ui
