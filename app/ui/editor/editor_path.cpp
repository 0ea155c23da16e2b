#include <fmt/format.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "ui/editor/editor_parts.h"
#include "ui/stage/kernel_file_choice.h"
#include "ui/widgets/text_file.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using Wish = EditorPath::Wish;

std::string file_name(const std::string& kernel) {
    return kernel.substr(kernel.rfind('/') + 1) + ".cu";
}

void remember(Interface& ui, const std::string& path) {
    ui.options.kernel_path = path;
    ui.editor.saved[ui.editor.file] = path;
}

/// Throws what write_whole throws.
void write(Interface& ui, const KernelEditor& editor, const std::string& path) {
    write_whole(with_home(path), editor.text());
    remember(ui, path);
    ui.stage.say(fmt::format("Saved {}", path));
}

/// True where it is done.
bool carry_out(Interface& ui, KernelEditor& editor) {
    EditorPath& path = ui.editor.path;
    path.error.clear();
    try {
        if (path.typed.empty() || path.typed.ends_with('/'))
            throw std::runtime_error("A path of a file is wanted, not of a folder.");
        if (path.wish == Wish::open) {
            editor.replace(read_kernel(path.typed));
            remember(ui, path.typed);
            return true;
        }
        const bool known = ui.editor.saved[ui.editor.file] == path.typed;
        std::error_code error;
        const bool there = std::filesystem::exists(with_home(path.typed), error);
        if (there && !known && path.replaces != path.typed) {
            path.replaces = path.typed;
            throw std::runtime_error("That file is there already. Save once more to replace it.");
        }
        write(ui, editor, path.typed);
        return true;
    } catch (const std::exception& error) {
        path.error = error.what();
        if (!path.error.empty())
            path.error[0] = char(std::toupper(static_cast<unsigned char>(path.error[0])));
        return false;
    }
}

int on_tab(ImGuiInputTextCallbackData* data) {
    const std::string common = path_choices({data->Buf, std::size_t(data->BufTextLen)}).common;
    data->DeleteChars(0, data->BufTextLen);
    data->InsertChars(0, common.c_str());
    return 0;
}

/// The field; true on Enter.
bool path_field(Interface& ui, float width) {
    EditorPath& path = ui.editor.path;
    std::array<char, 4096> buffer{};
    path.typed.copy(buffer.data(), buffer.size() - 1);
    ImGui::SetNextItemWidth(width);
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    const bool entered = ImGui::InputText(
        "##path", buffer.data(), buffer.size(),
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion, on_tab);
    if (path.typed != buffer.data()) {
        path.typed = buffer.data();
        path.error.clear();
    }
    record(ui, "editor.path", path.typed);
    return entered;
}

/// What the path may go on to; true where a click chose the file.
bool choices(Interface& ui, ImVec2 size) {
    EditorPath& path = ui.editor.path;
    bool chosen = false;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, colour::background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(8), ui.px(6)});
    ImGui::BeginChild("choices", size, false, ImGuiWindowFlags_AlwaysUseWindowPadding);
    const PathChoices all = path_choices(path.typed);
    for (std::size_t i = 0; i < all.choices.size(); ++i) {
        const std::string& one = all.choices[i];
        const bool folder = one.ends_with('/');
        const std::size_t name = one.rfind('/', one.size() - 2) + 1;
        ImGui::PushStyleColor(ImGuiCol_Text, folder ? colour::accent : colour::text);
        if (ImGui::Selectable(one.c_str() + name, one == path.typed)) {
            path.typed = one;
            path.error.clear();
            chosen = !folder && path.wish == Wish::open;
        }
        ImGui::PopStyleColor();
        record(ui, fmt::format("editor.path:{}", i), one);
    }
    if (all.choices.empty())
        text(ui.fonts.small, colour::faint, "No folder and no .cu file begins like this.");
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    return chosen;
}

}  // namespace

void ask_for_path(Interface& ui, Wish wish) {
    EditorPath& path = ui.editor.path;
    path = {};
    path.wish = wish;
    const std::string& last = ui.options.kernel_path;
    const std::string folder = last.empty() ? "~/" : last.substr(0, last.rfind('/') + 1);
    const auto saved = ui.editor.saved.find(ui.editor.file);
    if (wish == Wish::open)
        path.typed = folder;
    else
        path.typed =
            saved != ui.editor.saved.end() ? saved->second : folder + file_name(ui.editor.file);
    ImGui::OpenPopup("editor.path");
}

void save_kernel(Interface& ui, const KernelEditor& editor) {
    const auto saved = ui.editor.saved.find(ui.editor.file);
    if (saved == ui.editor.saved.end()) return ask_for_path(ui, Wish::save);
    try {
        write(ui, editor, saved->second);
    } catch (const std::exception& error) {
        ui.stage.say(error.what(), Tone::error);
    }
}

void draw_editor_path(Interface& ui, KernelEditor& editor) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(16), ui.px(14)});
    const bool open = ImGui::BeginPopup("editor.path");
    ImGui::PopStyleVar();
    if (!open) return;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    ImGui::PushStyleColor(ImGuiCol_Button, colour::hovered);
    const bool opens = ui.editor.path.wish == Wish::open;
    heading(ui, opens ? "Open a kernel" : "Save this kernel");
    const float width = std::min(ui.px(420), ImGui::GetIO().DisplaySize.x - ui.px(40));
    bool go = path_field(ui, width);
    go |= choices(ui, {width, ui.px(170)});
    ImGui::PushTextWrapPos(width);
    if (!ui.editor.path.error.empty()) {
        text(ui.fonts.small, colour::bad, ui.editor.path.error);
        record(ui, "editor.path.error", ui.editor.path.error);
    } else {
        text(ui.fonts.small, colour::dim,
             opens ? "Its text takes the place of this kernel's; undo brings that back. Tab "
                     "completes the path."
                   : "Tab completes the path.");
    }
    ImGui::PopTextWrapPos();
    go |= flat_button(ui, "editor.path.go", opens ? "Open" : "Save");
    ImGui::SameLine();
    const bool leave = flat_button(ui, "editor.path.cancel", "Cancel");
    if (leave || (go && carry_out(ui, editor))) ImGui::CloseCurrentPopup();
    ImGui::PopStyleColor(2);
    ImGui::EndPopup();
}

}  // namespace warpscope::ui
