#include <fmt/format.h>

#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <future>
#include <system_error>

#include "ui/documents/kernel_file_choice.h"
#include "ui/editor/editor_parts.h"
#include "ui/widgets/text_file.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

using Wish = EditorPath::Wish;

std::string file_name(const std::string& kernel) {
    return kernel.substr(kernel.rfind('/') + 1) + ".cu";
}

void remember(const EditorFrame& frame, const std::string& path) {
    frame.options.kernel_path = path;
    frame.view.saved[frame.view.file] = path;
}

/// Writes the document to `path`. Throws what write_whole throws.
void write(const EditorFrame& frame, const KernelDocument& document, const std::string& path) {
    write_whole(with_home(path), document.text());
    remember(frame, path);
    frame.stage.say(fmt::format("Saved {}", path));
}

/// Opens or saves. Returns false, with an error to show, where that fails.
bool carry_out(const EditorFrame& frame, KernelDocument& document) {
    EditorPath& path = frame.view.path;
    path.error.clear();
    try {
        if (path.typed.empty() || path.typed.ends_with('/'))
            throw std::runtime_error("This is the path of a folder. Type the path of a file.");
        if (path.wish == Wish::open) {
            document.replace(read_kernel(path.typed));
            remember(frame, path.typed);
            return true;
        }
        const bool known = frame.view.saved[frame.view.file] == path.typed;
        std::error_code error;
        const bool there = std::filesystem::exists(with_home(path.typed), error);
        if (there && !known && path.replaces != path.typed) {
            path.replaces = path.typed;
            throw std::runtime_error("A file is there already. Click Save again to replace it.");
        }
        write(frame, document, path.typed);
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

/// Draws the field of the path. Returns true on Enter.
bool path_field(const EditorFrame& frame, float width) {
    EditorPath& path = frame.view.path;
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
    record(frame.ui, "editor.path", path.typed);
    return entered;
}

/// Has the folder of the path read by another thread, and takes the result of an earlier read.
void list_choices(EditorPath& path) {
    if (path.listing.valid() &&
        path.listing.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
        path.choices = path.listing.get();
    if (path.listing.valid() || path.listed == path.typed) return;
    path.listed = path.typed;
    path.listing = std::async(std::launch::async, path_choices, path.typed);
}

/// Draws the completions of the path. Returns true where a click chose a file to open.
bool choices(const EditorFrame& frame, ImVec2 size) {
    EditorPath& path = frame.view.path;
    bool chosen = false;
    ImGui::PushStyleColor(ImGuiCol_ChildBg, colour::background);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {frame.ui.px(8), frame.ui.px(6)});
    begin_padded_child("choices", size);
    list_choices(path);
    const PathChoices& all = path.choices;
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
        record(frame.ui, fmt::format("editor.path:{}", i), one);
    }
    if (all.choices.empty() && !path.listing.valid())
        text(frame.ui.fonts.small, colour::faint,
             "No folder and no .cu file begins with this path.");
    ImGui::EndChild();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    return chosen;
}

}  // namespace

void ask_for_path(const EditorFrame& frame, Wish wish) {
    EditorPath& path = frame.view.path;
    path = {};
    path.wish = wish;
    const std::string& last = frame.options.kernel_path;
    const std::string folder = last.empty() ? "~/" : last.substr(0, last.rfind('/') + 1);
    const auto saved = frame.view.saved.find(frame.view.file);
    if (wish == Wish::open)
        path.typed = folder;
    else
        path.typed =
            saved != frame.view.saved.end() ? saved->second : folder + file_name(frame.view.file);
    ImGui::OpenPopup("editor.path");
}

void save_kernel(const EditorFrame& frame, const KernelDocument& document) {
    const auto saved = frame.view.saved.find(frame.view.file);
    if (saved == frame.view.saved.end()) return ask_for_path(frame, Wish::save);
    try {
        write(frame, document, saved->second);
    } catch (const std::exception& error) {
        frame.stage.say(error.what(), Tone::error);
    }
}

void draw_editor_path(const EditorFrame& frame, KernelDocument& document) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {frame.ui.px(16), frame.ui.px(14)});
    const bool open = ImGui::BeginPopup("editor.path");
    ImGui::PopStyleVar();
    if (!open) return;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    ImGui::PushStyleColor(ImGuiCol_Button, colour::hovered);
    const bool opens = frame.view.path.wish == Wish::open;
    heading(frame.ui, opens ? "Open a kernel" : "Save this kernel");
    const float width = std::min(frame.ui.px(420), ImGui::GetIO().DisplaySize.x - frame.ui.px(40));
    bool go = path_field(frame, width);
    go |= choices(frame, {width, frame.ui.px(170)});
    ImGui::PushTextWrapPos(width);
    if (!frame.view.path.error.empty()) {
        text(frame.ui.fonts.small, colour::bad, frame.view.path.error);
        record(frame.ui, "editor.path.error", frame.view.path.error);
    } else {
        text(frame.ui.fonts.small, colour::dim,
             opens ? "The file's text replaces this kernel's text. Undo brings that back. Tab "
                     "completes the path."
                   : "Tab completes the path.");
    }
    ImGui::PopTextWrapPos();
    go |= flat_button(frame.ui, "editor.path.go", opens ? "Open" : "Save");
    ImGui::SameLine();
    const bool leave = flat_button(frame.ui, "editor.path.cancel", "Cancel");
    if (leave || (go && carry_out(frame, document))) ImGui::CloseCurrentPopup();
    ImGui::PopStyleColor(2);
    ImGui::EndPopup();
}

}  // namespace warpscope::ui
