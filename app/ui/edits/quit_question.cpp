#include "ui/edits/quit_question.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "ui/documents/source_files.h"
#include "ui/language/language.h"
#include "ui/widgets/widgets.h"

namespace warpscope::ui {

/// The edited sources whose files are older. Edits of built-in sources are kept for the next start.
std::vector<std::string> QuitQuestion::unsaved() const {
    std::vector<std::string> files;
    for (const auto& [file, text] : stage_.documents().edited_sources()) {
        const KernelDocument& document = stage_.documents()[file];
        if (!document.path().empty() && !document.saved()) files.push_back(file);
    }
    return files;
}

bool QuitQuestion::may_quit() {
    if (answered_ || unsaved().empty()) return true;
    opens_ = true;
    return false;
}

bool QuitQuestion::save() const {
    try {
        for (const std::string& file : unsaved()) {
            KernelDocument& document = stage_.documents()[file];
            save_kernel(document, document.path());
        }
        return true;
    } catch (const std::exception& error) {
        stage_.say(error.what(), Tone::error);
        return false;
    }
}

void QuitQuestion::draw(Ui& ui) {
    if (std::exchange(opens_, false)) ImGui::OpenPopup("quit");
    if (!begin_dialog(ui, "quit")) return;
    std::string names;
    for (const std::string& file : unsaved())
        names += (names.empty() ? "" : ", ") +
                 std::filesystem::path(stage_.documents()[file].path()).filename().string();
    heading(ui, tr("Save the edits of {}?", names));
    text(ui.fonts.small, colour::dim,
         tr("Edits that are not saved are offered at the next start."));
    bool done = key_pressed(ImGuiKey_Escape);
    const auto quit = [&] {
        answered_ = done = true;
        ui.ask(Command::quit);
    };
    if (flat_button(ui, "quit.save", tr("Save and quit"), true) && save()) quit();
    ImGui::SameLine();
    if (flat_button(ui, "quit.discard", tr("Quit without saving"))) quit();
    ImGui::SameLine();
    done |= flat_button(ui, "quit.cancel", tr("Cancel"));
    end_dialog(done);
}

}  // namespace warpscope::ui
