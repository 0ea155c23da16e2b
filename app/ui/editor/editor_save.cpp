#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "ui/documents/kernel_file_choice.h"
#include "ui/editor/editor_parts.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {
namespace {

/// Throws what write_whole throws.
void save(const EditorFrame& frame, KernelDocument& document, const std::string& path) {
    save_kernel(document, path);
    frame.options.kernel_path = path;
    frame.stage.say(tr("Saved {}.", path));
}

bool is_file_of(const KernelDocument& document, const std::string& path) {
    std::error_code error;
    return !document.path().empty() &&
           std::filesystem::equivalent(with_home(path), document.path(), error);
}

/// Saves to the path that was typed. Returns false, with an error to show, where that fails.
bool save_to_typed(const EditorFrame& frame, KernelDocument& document) {
    EditorView& view = frame.view;
    const std::string path = view.save.path();
    try {
        if (path.empty() || path.ends_with('/'))
            throw std::runtime_error(tr("This is the path of a folder. Type the path of a file."));
        std::error_code error;
        const bool asks = std::filesystem::exists(with_home(path), error) &&
                          (!is_file_of(document, path) || is_changed_on_disk(document));
        if (asks && !(view.save.refused() && view.replaces == path)) {
            view.replaces = path;
            throw std::runtime_error(tr("A file is there already. Save again to replace it."));
        }
        save(frame, document, path);
        return true;
    } catch (const std::exception& error) {
        view.save.refuse(error.what());
        return false;
    }
}

}  // namespace

void ask_where_to_save(const EditorFrame& frame, const KernelDocument& document) {
    const std::string& last = frame.options.kernel_path;
    const std::string folder = last.empty() ? "~/" : last.substr(0, last.rfind('/') + 1);
    const std::string& kernel = frame.view.file;
    frame.view.save.begin(document.path().empty()
                              ? folder + kernel.substr(kernel.rfind('/') + 1) + ".cu"
                              : document.path(),
                          PathFiles::sources);
    frame.view.replaces.clear();
    ImGui::OpenPopup("editor.save");
}

void save_kernel(const EditorFrame& frame, KernelDocument& document) {
    if (document.path().empty()) return ask_where_to_save(frame, document);
    if (is_changed_on_disk(document)) {
        ask_where_to_save(frame, document);
        frame.view.replaces = document.path();
        return frame.view.save.refuse(
            tr("Another program has changed this file. Save again to replace what it wrote."));
    }
    try {
        save(frame, document, document.path());
    } catch (const std::exception& error) {
        frame.stage.say(error.what(), Tone::error);
    }
}

void draw_editor_save(const EditorFrame& frame, KernelDocument& document) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {frame.ui.px(16), frame.ui.px(14)});
    const bool open = ImGui::BeginPopup("editor.save");
    ImGui::PopStyleVar();
    if (!open) return;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, colour::background);
    ImGui::PushStyleColor(ImGuiCol_Button, colour::hovered);
    heading(frame.ui, tr("Save this kernel"));
    const float width = std::min(frame.ui.px(420), ImGui::GetIO().DisplaySize.x - frame.ui.px(40));
    bool go = frame.view.save.draw(frame.ui, width, frame.ui.px(170));
    frame.view.save.draw_error(frame.ui, width, tr("Tab completes the path."));
    go |= flat_button(frame.ui, "editor.path.go", tr("Save"));
    ImGui::SameLine();
    const bool leave =
        flat_button(frame.ui, "editor.path.cancel", tr("Cancel")) || key_pressed(ImGuiKey_Escape);
    if (leave || (go && save_to_typed(frame, document))) ImGui::CloseCurrentPopup();
    ImGui::PopStyleColor(2);
    ImGui::EndPopup();
}

}  // namespace warpscope::ui
