#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ui/view_fixture.h"

namespace warpscope::ui {

using State = EditState;

/// The pane over the ripple, with the compiler's answers put in its mouth.
class EditorPanelTest : public ViewFixture {
  protected:
    EditorPanelTest() {
        show("ripple", {{"size", "64"}});
        click("editor.open");
        frames(3);
    }
    KernelDocument& document(const std::string& file = "ripple") {
        return stage_->documents()[file];
    }
    std::string text() { return document().text(); }
    /// The first line with a barrier's mark in sight.
    int barrier_line() {
        for (int line = 1; line < 500; ++line)
            if (view_->widgets().find("editor.barrier." + std::to_string(line))) return line;
        return 0;
    }
    void control(char letter) {
        constexpr int control_key = 2;  // GLFW_MOD_CONTROL
        const Shortcut* shortcut = find_shortcut(KeyScope::editor, letter, control_key);
        ASSERT_NE(shortcut, nullptr) << letter;
        view_->editor().ask(shortcut->command);
        frames(3);
    }
    void answer(State state, std::vector<compiler::Diagnostic> said,
                const std::string& error = "") {
        document().set_outcome({state, document().shared_text(), std::move(said), error});
        frames(3);
    }
    std::string line(int number) { return value("editor.line." + std::to_string(number)); }
};

/// The pane over the ripple, where edits can be made. The clock stands still, so that no pause in
/// typing ever ends and no edit is tried.
class EditorTypingTest : public EditorPanelTest {
  protected:
    EditorTypingTest() {
        Stage::Start start;
        start.device_wish = "emulator";
        start.experiment = "ripple";
        start.assignments = {{"size", "64"}};
        // Time stands still, so that no edit is tried: its outcome may add a notice, which would
        // move the text away from under the mouse.
        start.clock = [] { return std::chrono::steady_clock::time_point(); };
        start.try_edits = [](const auto&, const auto&) {
            experiments::EditResult result;
            result.error = "Not here.";
            return result;
        };
        view_.reset();
        stage_ = std::make_unique<Stage>(start);
        stage_->pause(true);
        ViewOptions options;
        options.editor = true;
        view_ = std::make_unique<WindowView>(*stage_, options, 1.F, 1.F);
        gui_.fonts_changed();
        frames(4);
    }
    ~EditorTypingTest() override { std::filesystem::remove_all(folder_); }
    /// Presses Ctrl+V where the clipboard has these words.
    void paste(const std::string& words) {
        ImGui::SetClipboardText(words.c_str());
        hold_control(true);
        press_key(ImGuiKey_V);
        hold_control(false);
    }
    static void hold_control(bool down) {
#if IMGUI_VERSION_NUM >= 18900
        ImGui::GetIO().AddKeyEvent(ImGuiMod_Ctrl, down);
#elif IMGUI_VERSION_NUM >= 18700
        ImGui::GetIO().AddKeyEvent(ImGuiKey_ModCtrl, down);
#else
        ImGui::GetIO().KeyCtrl = down;
#endif
    }
    void put(const std::string& words) {
        for (const char c : words) {
            ImGui::GetIO().AddInputCharacter(unsigned(c));
            frames();
        }
        frames(2);
    }
    /// The cursor to the end of a line in sight.
    void end_of(int number) {
        click("editor.line." + std::to_string(number));
        press_key(ImGuiKey_End);
    }
    /// A line of the text, in sight or not.
    std::string row(int number) {
        const std::string all = text();
        return std::string(KernelLines(all).line(all, number - 1));
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("warpscope-editor-" + std::to_string(::getpid()));
};

}  // namespace warpscope::ui
